"""Prints the folder, below the prefix named, in which this interpreter finds packages of that prefix."""
import os
import sys
import sysconfig


def folders():
    if "deb_system" not in sysconfig.get_scheme_names():
        return [sysconfig.get_path("platlib", "posix_prefix")]
    # Debian's reads dist-packages: of /usr, and of /usr/local for what the administrator installs.
    return [sysconfig.get_path("platlib", name, vars={"platbase": "/usr"}) for name in ("deb_system", "posix_local")]


def split(folder):
    """PREFIX, lib/python3*/PACKAGES"""
    prefix, *below = folder.rsplit("/", 3)
    return prefix, "/".join(below)


below_prefix = dict(split(folder) for folder in folders())
# A prefix that it does not look into by itself: laid out as its own.
print(below_prefix.get(os.path.abspath(sys.argv[1]), split(folders()[0])[1]))
