"""Detecting the file system of a home (mount table), and folders that a cloud service synchronizes."""

import os
import sys
from pathlib import Path

import pytest

from yiku.files import mounts

MOUNTINFO = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:30 / /mnt/nas rw shared:1 master:2 - nfs4 server:/export rw,vers=4.2
31 27 0:31 / /mnt/nas/disk rw shared:3 - btrfs /dev/sdb rw
32 27 0:32 / /mnt/old rw - nfs server:/old rw
33 27 0:33 / /mnt/office rw - cifs //server/share rw
34 27 0:34 / /mnt/office\040北京\011x rw - smb3 //server/share rw
35 27 0:35 / /mnt/c rw - 9p drvfs rw,aname=drvfs
36 27 0:36 / /mnt/host rw - virtiofs host rw
37 27 0:37 / /mnt/ssh rw,nosuid - fuse.sshfs me@server:/ rw
38 27 0:38 / /mnt/cloud rw,nosuid - fuse.rclone cloud: rw
39 27 8:17 / /mnt/stick rw - fuseblk /dev/sdc1 rw
40 27 0:40 / /mnt/layers rw - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c
41 27 0:41 / /mnt/union rw - aufs none rw
42 27 0:42 / /mnt/podman rw - fuse.fuse-overlayfs fuse-overlayfs rw
43 27 0:43 / /mnt/ceph rw - ceph mon:/ rw
44 27 0:44 / /mnt/big rw - lustre mgs@tcp:/big rw
45 27 0:45 / /mnt/gluster rw - fuse.glusterfs server:/v rw
46 27 0:46 / /mnt/afs rw - afs none rw
47 27 0:47 / /dev/shm rw - tmpfs tmpfs rw
48 27 0:48 / /mnt/twice rw - ext4 /dev/sdd rw
49 48 0:49 / /mnt/twice rw - nfs4 server:/over rw
a line of another form
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/mei/.yiku", "local"),
        ("/", "local"),
        ("/dev/shm/yiku", "local"),
        ("/mnt/stick/yiku", "local"),
        ("/mnt/nas", "network"),
        ("/mnt/nas/.yiku/yiku.db", "network"),
        ("/mnt/nas/disk/.yiku", "local"),
        ("/mnt/nasty", "local"),
        ("/mnt/old/a", "network"),
        ("/mnt/office/a", "network"),
        ("/mnt/office 北京\tx/a", "network"),
        ("/mnt/c/Users/梅", "network"),
        ("/mnt/host/a", "network"),
        ("/mnt/ssh/a", "network"),
        ("/mnt/cloud/a", "network"),
        ("/mnt/ceph/a", "network"),
        ("/mnt/big/a", "network"),
        ("/mnt/gluster/a", "network"),
        ("/mnt/afs/a", "network"),
        ("/mnt/twice/a", "network"),
        ("/mnt/layers/a", "overlay"),
        ("/mnt/union/a", "overlay"),
        ("/mnt/podman/a", "overlay"),
    ],
)
def test_the_deepest_mount_says_what_a_path_lies_on(path, expected):
    """The longest mount point wins, of two at one place the later, and a name that only begins alike does not count."""
    assert expected == mounts.kind(path, MOUNTINFO)


def test_an_overlay_below_everything_is_seen():
    """In a container the root itself is an overlay; a volume in it is not."""
    inside = "1 0 0:9 / / rw - overlay overlay rw\n2 1 8:1 / /data rw - ext4 /dev/sda1 rw\n"

    assert ("overlay", "local") == (mounts.kind("/root/.yiku", inside), mounts.kind("/data/忆库", inside))


@pytest.mark.parametrize("text", ["", "\n\n", "a b c", "27 1 254:0 / / rw - ", "\\040 - nfs"])
def test_what_cannot_be_read_counts_as_local(text):
    """Nothing, or lines of another form: no error, and no warning about a disk that nobody has seen."""
    assert "local" == mounts.kind("/home/mei", text)


def test_a_link_counts_as_what_it_leads_to(tmp_path):
    """A home behind a symbolic link lies where the link leads, also when it is not there yet."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    over = f"1 0 8:1 / / rw - ext4 a rw\n2 1 0:9 / {os.path.realpath(tmp_path)}/disk rw - nfs4 server:/ rw\n"

    assert "network" == mounts.kind(tmp_path / "home" / "new" / ".yiku", over)


def test_this_machine_is_read_as_it_is(tmp_path):
    """/proc lies on no disk that we would warn of, and a folder for tests is local or, in a container, on an overlay."""
    assert "local" == mounts.kind("/proc/self")
    assert mounts.kind(tmp_path) in ("local", "overlay")
    if sys.platform == "linux":
        assert mounts._type_at("/proc/self", mounts.MOUNTINFO.read_text()) == "proc"


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("Dropbox/notes/.yiku", "Dropbox"),
        ("Dropbox (个人)/.yiku", "Dropbox"),
        ("OneDrive/.yiku", "OneDrive"),
        ("OneDrive - 公司/.yiku", "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs/.yiku", "iCloud Drive"),
        ("Library/CloudStorage/GoogleDrive-mei@example.org/.yiku", "Google Drive"),
        ("Google Drive/我的/.yiku", "Google Drive"),
        ("Nextcloud/.yiku", "Nextcloud"),
        ("Dropboxes/.yiku", None),
        ("my dropbox/.yiku", None),
        ("忆库", None),
    ],
)
def test_a_folder_that_a_service_copies_is_known_by_its_name(tmp_path, folder, service):
    """Whatever lies between: the service is named; a folder that is merely called alike is not."""
    assert service == mounts.synced(tmp_path / folder)


@pytest.mark.parametrize(
    ("mark", "service"), [(".stfolder", "Syncthing"), (".dropbox", "Dropbox"), (".nextcloudsync.log", "Nextcloud")]
)
def test_a_folder_that_a_service_copies_is_known_by_what_lies_in_it(tmp_path, mark, service):
    """A folder of any name: the mark in it or above it tells; the mark of a neighbour does not."""
    home = tmp_path / "共享" / "a" / ".yiku"
    home.mkdir(parents=True)
    neighbour = tmp_path / "neighbour"
    neighbour.mkdir()
    (neighbour / mark).touch()
    assert mounts.synced(home) is None

    (tmp_path / "共享" / mark).touch()
    assert service == mounts.synced(home)


def test_looking_writes_nothing(tmp_path):
    """Asked about a place that is not there, nothing is made."""
    place = tmp_path / "not" / "there"
    assert mounts.synced(place) is None
    mounts.kind(place)

    assert [] == [*Path(tmp_path).iterdir()]
