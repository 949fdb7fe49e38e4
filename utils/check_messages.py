#!/usr/bin/env python3
# ===- check_messages.py - every message has a test ------------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Lists messages and passes that no test mentions.

A message is the text of an emitOpError, emitError, createStringError and the
like in lib/ and tools/, or any string there that begins with `expected ` or
`cannot `. Its values are left out: what remains are fragments between them. It
is tested if the larger part of its text stands in test/ or unittests/. A pass
is tested if some test runs its flag. Prints what is not, and exits with 1.
"""

import os
import re
import sys

SOURCES = (".cpp", ".c", ".h")
TESTS = (".mlir", ".test", ".cpp", ".c", ".py", ".h", ".txt", ".sh")
CALLS = re.compile(
    r"\b(emitOpError|emitError|emitWarning|createStringError|makeError|"
    r"reportError|setError|attn_rt_fail|attn_rt_error)\s*\("
)
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = re.compile(r"%s(?:\s*%s)*" % (LITERAL, LITERAL))
OPENING = re.compile(r'^"(expected|cannot|unknown) ')
# Where values go: braces of fmt and formatv, conversions of printf and lit.
PLACEHOLDERS = re.compile(r"\{[^{}]*\}|%[-+ #0-9.*]*(?:ll|l|z|h)?[a-zA-Z]|, got\b")
COMMENT = re.compile(r"//[^\n]*")
SHORTEST = 6  # A fragment like " and " says nothing.

# Messages that no input brings about: they guard what an earlier check or our
# own code ensures, or report that another library or the system failed.
UNREACHABLE = {
    # Halide: it refuses nothing that the emitters build.
    "internal error of Halide:",
    "refused by Halide:",
    "unexpected exception:",
    "expected all scratch of fixed size on the stack",
    "expected SPIR-V of Halide",
    # The system has no room for a folder.
    "cannot create a temporary folder:",
    "cannot start a process:",
    "cannot make a directory for kernels:",
    # LLVM reads, links and compiles what this process wrote itself.
    "cannot read bitcode",
    "cannot link",
    "cannot translate the driver to LLVM IR",
    "no code generator for",
    "no code generation for",
    "the merged module is not valid:",
    "expected kernels that need nothing but libc, libm and pthread",
    "expected a function",
    "expected a target whose run-time this attn-opt has",
    # Descriptor and run-time are in one object.
    "expected descriptor version",
    "expected a valid module from the importer",
    # The fuzzer makes graphs that parse, and kernels keep to their strides.
    "expected a graph that the evaluator reads",
    "expected accesses to the elements of output",
    # Ensured by the verifiers of the operations.
    "expected as many rows as the key tile",
    "expected a region of",
    "expected tensor.parallel_insert_slice",
    "the weight was not checked",
    # Devices: drivers that refuse what they have just offered, a CUDA driver
    # where there is none, a context of several devices.
    "expected a CUDA driver with a device",
    "expected a context of the CUDA device",
    "expected a stream of the CUDA device",
    "expected a cl_context of one device in options.device_context",
    "expected a context of the OpenCL device",
    "expected a queue of the OpenCL device",
    # Ensured by how kernels are scheduled and host functions are made.
    "expected no truth value as an argument of the device code (because the "
    "SPIR-V of it is not valid",
    "expected shared memory of a size that is known when the kernel is compiled",
    "expected a number of threads that is known when the kernel is compiled",
    "not supported on a device: expected a buffer that is part of an argument "
    "or of the workspace",
}


def read(root, folders, suffixes):
    for folder in folders:
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(suffixes):
                    full = os.path.join(path, name)
                    with open(full, encoding="utf-8", errors="replace") as file:
                        yield os.path.relpath(full, root), file.read()


def join(literals):
    """The text of adjacent string literals."""
    text = "".join(part[1:-1] for part in re.findall(LITERAL, literals))
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def normalize(text):
    return re.sub(r"\s+", " ", text)


def statement_end(text, start):
    """The position of the `;` that ends the statement, outside of strings."""
    for match in re.finditer(LITERAL + r"|;", text[start:]):
        if match.group() == ";":
            return start + match.start()
    return len(text)


def messages(text):
    """Yields (offset, fragments) of each message in a source file."""
    # Comments become blanks, so that offsets stay; not those in strings.
    text = re.sub(
        LITERAL + r"|//[^\n]*",
        lambda m: m.group() if m.group()[0] == '"' else " " * len(m.group()),
        text,
    )
    spans = []
    for call in CALLS.finditer(text):
        spans.append((call.start(), statement_end(text, call.end())))
    for literal in LITERALS.finditer(text):
        inside = any(start <= literal.start() < end for start, end in spans)
        if not inside and OPENING.match(literal.group()):
            spans.append((literal.start(), statement_end(text, literal.start())))
    for start, end in spans:
        fragments = []
        for literal in LITERALS.finditer(text, start, end):
            for part in PLACEHOLDERS.split(join(literal.group())):
                part = normalize(part).strip(" '\"`,()%")
                if len(part) >= SHORTEST:
                    fragments.append(part)
        if fragments:
            yield start, fragments


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    corpus = []
    for _, text in read(root, ("test", "unittests"), TESTS):
        # Strings that are split over lines in C++ tests are one text.
        corpus.append(re.sub(r'"\s*\n\s*"', "", text).replace('\\"', '"'))
    corpus = normalize("\n".join(corpus))

    untested = count = 0
    used = set()
    for path, text in read(root, ("lib", "tools"), SOURCES):
        for start, fragments in messages(text):
            if fragments[0] in UNREACHABLE:
                used.add(fragments[0])
                continue
            count += 1
            total = sum(map(len, fragments))
            tested = sum(len(part) for part in fragments if part in corpus)
            if 2 * tested < total or not tested:
                line = text.count("\n", 0, start) + 1
                print("%s:%d: no test expects '%s'" % (path, line, " ... ".join(fragments)))
                untested += 1
    for path, text in read(root, ("include",), ("Passes.td",)):
        for match in re.finditer(r':\s*Pass<\s*"([^"]+)"', text):
            count += 1
            if not re.search(r"-%s\b(?!-)" % re.escape(match.group(1)), corpus) and not (
                re.search(r"[(,]%s\b(?!-)" % re.escape(match.group(1)), corpus)
            ):
                line = text.count("\n", 0, match.start()) + 1
                print("%s:%d: no test runs %s" % (path, line, match.group(1)))
                untested += 1
    for message in sorted(UNREACHABLE - used):
        print("utils/check_messages.py: no source has '%s'" % message)
        untested += 1
    print("%d of %d messages and passes have no test" % (untested, count))
    return 1 if untested or not count else 0


if __name__ == "__main__":
    sys.exit(main())
