"""Who may do what, as a table that a person can check."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intermezzo.domain.access import ALL_SCOPES, SCOPE_FOR, Identity, Role, Scope, TeamRole, Verb, may

MEMBER = Identity("ada", teams={"vision": TeamRole.MEMBER})
TEAM_ADMIN = Identity("tess", teams={"vision": TeamRole.ADMIN})
STRANGER = Identity("bob", teams={"speech": TeamRole.ADMIN})
PLATFORM_ADMIN = Identity("root", Role.PLATFORM_ADMIN)
AUDITOR = Identity("ann", Role.AUDITOR, teams={"vision": TeamRole.ADMIN})

ADAS = {"namespace": "vision", "owner": "ada"}
TABLE = {
    MEMBER: "see change connect export create",
    TEAM_ADMIN: "see change export create",
    STRANGER: "",
    PLATFORM_ADMIN: "see change export create oversee administer",
    AUDITOR: "see oversee",
}

identities = st.builds(
    Identity,
    subject=st.sampled_from(["ada", "Ada", "bob"]),
    role=st.sampled_from(Role),
    teams=st.dictionaries(st.sampled_from(["vision", "speech"]), st.sampled_from(TeamRole)),
    scopes=st.frozensets(st.sampled_from(Scope)),
)


@pytest.mark.parametrize(
    ("identity", "verb"), list(itertools.product(TABLE, Verb)), ids=lambda v: getattr(v, "subject", None) or str(v)
)
def test_adas_workspace_is_open_to_exactly_these(identity: Identity, verb: Verb) -> None:
    assert may(identity, verb, **ADAS) == (verb.value in TABLE[identity].split())


@given(identity=identities, verb=st.sampled_from(Verb), owner=st.sampled_from(["ada", "bob", ""]))
def test_no_credential_gives_more_than_its_account_has_or_than_its_scopes_say(
    identity: Identity, verb: Verb, owner: str
) -> None:
    full = Identity(identity.subject, identity.role, identity.teams, ALL_SCOPES)
    allowed = may(identity, verb, "vision", owner)
    assert allowed == (may(full, verb, "vision", owner) and SCOPE_FOR[verb] in identity.scopes)


@given(identity=identities, verb=st.sampled_from(Verb), owner=st.sampled_from(["ada", "bob", ""]))
def test_an_auditor_changes_nothing_and_only_an_owner_enters_a_session(
    identity: Identity, verb: Verb, owner: str
) -> None:
    if may(identity, verb, "vision", owner):
        assert identity.role is not Role.AUDITOR or verb in {Verb.SEE, Verb.OVERSEE}
        assert verb is not Verb.CONNECT or identity.owns(owner)


def test_who_left_the_team_left_its_workspaces() -> None:
    assert not any(may(Identity("ada"), verb, **ADAS) for verb in Verb)


def test_names_compare_without_case() -> None:
    assert may(Identity("ADA", teams={"vision": TeamRole.MEMBER}), Verb.CONNECT, "Vision", "ada")
