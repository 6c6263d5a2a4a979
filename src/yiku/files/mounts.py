"""
Detect the file system under a folder: local, network, overlay, synced.

SQLite's WAL needs memory that all its users share, and locks that hold. A network file system has neither
for certain; an overlay has both within one machine. A service that copies files one by one, at its own
time, may bring back a database and a log that do not belong together. The store decides what to do; this
module only looks, and writes nothing.

The system says what is mounted where in /proc/self/mountinfo, one line a mount (proc(5)):

    36 35 98:0 / /mnt/my\\040disk rw,noatime shared:1 - nfs4 server:/export rw,vers=4.2
                 the place                              the type
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

Kind = Literal["local", "network", "overlay"]

MOUNTINFO = Path("/proc/self/mountinfo")  # Linux only; elsewhere every place counts as local
OVERLAYS = {"overlay", "overlayfs", "aufs"}
NETWORKS = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "kafs", "coda"),  # servers
    *("ceph", "glusterfs", "lustre", "gfs", "gfs2", "ocfs2", "orangefs", "beegfs", "gpfs", "pvfs2", "wekafs"),  # clusters
    *("9p", "virtiofs", "drvfs", "vboxsf", "vmhgfs", "prl_fs"),  # the host of a virtual machine
}
LOCAL_FUSE = {"fuseblk", "fuse.ntfs-3g", "fuse.lowntfs-3g", "fuse.exfat", "fuse.ext4", "fuse.bindfs", "fuse.gocryptfs"}
LAYERED_FUSE = {"fuse.fuse-overlayfs", "fuse.unionfs", "fuse.mergerfs"}

# Folders that services copy: the name of the folder, or what they leave in its root.
_SERVICES = (
    ("Dropbox", re.compile(r"Dropbox( \(.+\))?")),
    ("OneDrive", re.compile(r"OneDrive( ?- ?.+)?")),
    ("iCloud Drive", re.compile(r"Mobile Documents|iCloud ?Drive|com~apple~CloudDocs")),
    ("Google Drive", re.compile(r"Google ?Drive( ?- ?.+)?|My Drive|DriveFS|GoogleDrive-.+")),
    ("Nextcloud", re.compile(r"Nextcloud\d*|ownCloud")),
)
_MARKS = (
    ("Dropbox", ".dropbox"),
    ("Syncthing", ".stfolder"),
    ("Nextcloud", ".nextcloudsync.log"),
    ("OneDrive", ".849C9593-D756-4E56-8D6E-42412F2A707B"),
)


def free_bytes(path: str | os.PathLike[str]) -> int | None:
    """Return the bytes that are free for us on the disk of a path; None where it does not say."""
    try:
        disk = os.statvfs(path)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize if disk.f_blocks else None


def kind(path: str | os.PathLike[str], mountinfo: str | None = None) -> Kind:
    """
    Return the sort of file system of a path, existing or not.

    mountinfo: what to read in place of /proc/self/mountinfo
    Where it cannot be read, as on macOS, the answer is "local".
    """
    if mountinfo is None:
        try:
            mountinfo = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return "local"
    found = _type_at(os.path.realpath(path), mountinfo)
    if found in OVERLAYS | LAYERED_FUSE:
        return "overlay"
    if found in NETWORKS or (found.startswith("fuse.") and found not in LOCAL_FUSE):  # of a strange FUSE, the worst
        return "network"
    return "local"


def synced(path: str | os.PathLike[str]) -> str | None:
    """Return the service that syncs the folder of a path, by the names and marks services leave."""
    place = Path(os.path.realpath(path))
    for folder in (place, *place.parents):
        for service, name in _SERVICES:
            if name.fullmatch(folder.name):
                return service
        for service, mark in _MARKS:
            if os.path.lexists(folder / mark):
                return service
    return None


def _type_at(path: str, mountinfo: str) -> str:
    """Return the type of the mount of an absolute path: the deepest, and of these the last."""
    deepest, found = "", ""
    for line in mountinfo.split("\n"):
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 6:
            continue  # not a line of this form
        place = _plain(fields[4])
        if len(place) >= len(deepest) and _holds(place, path):
            deepest, found = place, after.split(" ")[0]
    return found


def _holds(place: str, path: str) -> bool:
    return place in ("/", path) or path.startswith(f"{place}/")


def _plain(text: str) -> str:
    """Decode the octal escapes of mountinfo."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), text)
