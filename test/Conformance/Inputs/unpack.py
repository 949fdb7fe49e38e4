# ===- unpack.py - folders of a test data archive ---------------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""unpack.py ARCHIVE FOLDER [+PATTERN | -PATTERN]...

Writes the folders of the archive whose names match the last pattern that says
anything about them (`+` takes, `-` leaves) below FOLDER.
"""

import fnmatch
import os
import sys
import tarfile

archive, target, patterns = sys.argv[1], sys.argv[2], sys.argv[3:]
with tarfile.open(archive) as file:
    for member in file:
        folder = member.name.split("/")[0]
        taken = False
        for pattern in patterns:
            if fnmatch.fnmatchcase(folder, pattern[1:]):
                taken = pattern[0] == "+"
        if not taken or not member.isfile():
            continue
        path = os.path.join(target, member.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(file.extractfile(member).read())
