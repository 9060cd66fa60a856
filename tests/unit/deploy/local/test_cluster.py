"""The path of PostgreSQL's socket fits the system's limit."""

from pathlib import Path

from deploy.local.cluster import Cluster


def test_the_socket_is_in_the_data_folder_unless_its_path_is_too_long() -> None:
    short = Path("/data/postgres")
    assert Cluster(short).sockets == short.resolve() / "run"
    assert len(str(Cluster(short / ("long" * 30)).sockets)) < 100


def test_two_data_folders_with_long_paths_do_not_share_a_socket() -> None:
    one, two = (Cluster(Path("/data") / (letter * 120)).sockets for letter in "ab")
    assert one != two
