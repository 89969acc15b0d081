"""The release check: does a session that was saved under the old conditions come back under the new ones?"""
