"""What groups mean, and names that nobody can have."""

from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intermezzo.domain.access import Role, TeamRole
from intermezzo.domain.account import GroupMeanings, Membership, Source, check_subject, check_team, stronger
from intermezzo.domain.errors import InvalidInput

MEANINGS = GroupMeanings({"reds": "red", "all": "blue"}, {"leads": "red"}, platform_admins="it", auditors="audit")


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        ((), Role.USER),
        (("reds", "unknown"), Role.USER),
        (("audit",), Role.AUDITOR),
        (("audit", "it"), Role.PLATFORM_ADMIN),
        (("",), Role.USER),
    ],
)
def test_groups_decide_the_role_where_they_are_given_that_meaning(groups: Collection[str], role: Role) -> None:
    assert MEANINGS.role(groups) is role
    assert GroupMeanings().role(groups) is None


@settings(deadline=None)
@given(st.frozensets(st.sampled_from(["reds", "leads", "all", "it", "unknown"])))
def test_each_team_is_joined_once_as_the_most_that_the_groups_give(groups: frozenset[str]) -> None:
    joined = {m.team: m for m in MEANINGS.memberships("ada", groups)}
    assert len(joined) == len(MEANINGS.memberships("ada", groups))
    assert ("red" in joined) == bool(groups & {"reds", "leads"})
    assert ("blue" in joined) == ("all" in groups)
    for membership in joined.values():
        role = TeamRole.ADMIN if membership.team == "red" and "leads" in groups else TeamRole.MEMBER
        assert membership == Membership(membership.team, "ada", role, Source.GROUPS)


def test_the_stronger_of_two_roles_counts() -> None:
    assert stronger(None, TeamRole.MEMBER) is TeamRole.MEMBER
    assert stronger(TeamRole.ADMIN, TeamRole.MEMBER) is TeamRole.ADMIN
    assert stronger(TeamRole.MEMBER, TeamRole.ADMIN) is TeamRole.ADMIN


@pytest.mark.parametrize("namespaces", [("a/b",), ("",), ("a", "A"), ("x" * 254,)])
def test_a_team_has_possible_namespaces_each_once(namespaces: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_team("red", namespaces)
    assert list(refused.value.fields) == ["namespaces"]
    check_team("red", ("Ü.Ä", "_@example.com"))


@pytest.mark.parametrize("subject", ["_@example.com", "f" * 64, "Ü.Ä", "a b@x.org"])
def test_fr14_odd_subjects_are_possible(subject: str) -> None:
    check_subject(subject)
