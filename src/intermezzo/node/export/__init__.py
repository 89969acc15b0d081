"""Makes an archive of a home in a process of its own, which has given up root before it reads the first file.

Whatever a user put into a home (links, pipes, files that change under the reader's hands) is met with no more rights
than the user has. Nothing in here writes to a home.
"""
