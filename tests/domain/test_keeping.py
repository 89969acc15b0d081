"""Where snapshots are kept: what is an address of a store, and who may know the credentials for one."""

import pytest

from intermezzo.config.sections import Snapshots
from intermezzo.domain.errors import InvalidInput
from intermezzo.domain.keeping import store_address, without_credentials


@pytest.mark.parametrize(
    "url", ["s3://bucket", "s3://my.bucket/a/b-c/d_e=1", "gs://bucket/prefix", "file:///srv/store", "file:///mnt/a%20b"]
)
def test_an_address_is_taken_as_it_is(url: str) -> None:
    assert store_address(url) == url
    assert store_address(f"{url}/") == url
    assert Snapshots(store=url).store == url


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:S3CRET@bucket/prefix",
        "s3://bucket/prefix?token=S3CRET",
        "s3://bucket/prefix#S3CRET",
        "s3:///prefix",
        "s3://bucket/../other",
        "s3://bucket//double",
        "file://host/path",
        "file://relative",
        "file:///srv/../etc",
        "https://bucket.example.org",
        "bucket",
        "/srv/store",
    ],
)
def test_what_is_none_is_refused_and_nothing_of_it_is_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        store_address(url)
    assert "S3CRET" not in f"{refused.value.message} {refused.value.hint} {refused.value.fields}"
    with pytest.raises(ValueError, match="Snapshots"):
        Snapshots(store=url)


def test_who_has_no_business_with_the_store_knows_no_credentials() -> None:
    environment = {
        "PATH": "/bin",
        "AWS_SECRET_ACCESS_KEY": "S3CRET",
        "AWS_SESSION_TOKEN": "S3CRET",
        "GOOGLE_APPLICATION_CREDENTIALS": "/key.json",
        "LAWS_OF_NATURE": "hold",
    }
    assert without_credentials(environment) == {"PATH": "/bin", "LAWS_OF_NATURE": "hold"}
