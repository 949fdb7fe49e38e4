#!/usr/bin/env python3
# ===- check_doc_examples.py - every documented example works --------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Runs the examples of the reference pages and checks that what pages mention exists.

    check_doc_examples.py ATTN_OPT docs/Reference/Dialect.md docs/Reference/Passes.md ...

An operation, attribute or type has an example that uses it, an `mlir` block or one line behind `Example:`, and
each example parses and verifies. Examples may be fragments: a value that a fragment uses and does not define becomes
an argument of a function around it, of the type that attn-opt says the use has.

A pass shows what it does, and each of its options has such an example:

    Before:                                an input; a fragment as above, which returns what it does not use
    After: or After `pass{options}`:       the output for it; `...` stands for any text, names of values and line
                                           breaks do not matter
    Error with `pass{options}`:            the message instead

A pass, or options of a pass, that a page mentions as `attn-name` or `attn-name{option=value}` exist.
"""
import dataclasses
import re
import subprocess
import sys

SECTION = re.compile(r"^### `?([^`\n ]+)`?.*\n", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$|\bExample: `(?P<inline>[^`]+)`", re.DOTALL | re.MULTILINE)
ERROR = re.compile(r"^[^\n:]*:(\d+):(\d+): error: (.*)$", re.MULTILINE)
VALUE = re.compile(r"%[\w$.-]+")
DEFINITION = re.compile(r"^(%[^=]*?)\s*=", re.MULTILINE)
OTHER_TYPE = re.compile(r"expects different type than prior uses: 'none' vs '(.*)'")
# What holds symbols stands in the module and not in a function.
SYMBOLS = re.compile(r"^(module|func\.func|attn\.(weight|dim|kernel))\b", re.MULTILINE)
PASS = re.compile(r"`((?:convert-)?attn-[a-z-]+)(?:\{([^}`]*)\})?`")
SPLIT = "\n// -----\n"


@dataclasses.dataclass
class Example:
    """A fragment of IR, and where it stands."""

    where: str
    text: str
    returns: bool = False
    types: dict = dataclasses.field(default_factory=dict)  # of values without definition, and of results
    problem: str = ""

    def defined(self):
        return [name.strip().split(":")[0] for match in DEFINITION.finditer(self.text) for name in match[1].split(",")]

    def results(self):
        """What the fragment defines and does not use."""
        used = VALUE.findall(self.text)
        return [name for name in self.defined() if used.count(name) == 1] if self.returns else []

    def in_module(self):
        """The fragment at the top of a module, where the parser takes any order of definitions and uses."""
        if self.text[0] not in "#!":
            return self.text
        # Names that the attribute uses stand in front of it, a line each.
        aliases, value = [], self.text.split("\n")
        while re.match(r"[#!]\w+ = ", value[0]):
            aliases.append(value.pop(0) + "\n")
        return "".join(aliases) + f'"example.op"() {{value = {chr(10).join(value)}}} : () -> ()'

    def complete(self):
        """The fragment with something around it that defines what it leaves open."""
        free = [name for name in self.types if name not in self.defined()]
        if self.text[0] in "#!" or SYMBOLS.search(self.text):
            values = [f'{name} = "example.value"() : () -> {self.types[name]}\n' for name in free]
            return "".join(values) + self.in_module()
        arguments = ", ".join(f"{name}: {self.types[name]}" for name in free)
        types = ", ".join(self.types[name] for name in self.results())
        end = f"return {', '.join(self.results())} : {types}" if types else "return"
        return f"func.func @example({arguments}) -> ({types}) {{\n{self.text}\n{end}\n}}"


class Checker:
    def __init__(self, attn_opt):
        self.attn_opt = attn_opt
        self.problems = []
        self.count = 0
        help_text = self.run(["--help"], "").stdout
        self.known = {"attn-opt", "attn-run", "attn-lsp-server"}
        self.known.update(re.findall(r"^ +--((?:convert-)?attn-[a-z-]+)", help_text, re.MULTILINE))

    def run(self, arguments, text):
        command = [self.attn_opt, "--allow-unregistered-dialect", *arguments]
        return subprocess.run(command, input=text, text=True, capture_output=True, check=False)

    def errors(self, chunks):
        """For each text the (line, column, message) of its errors, counted from 0; one process parses all."""
        result = self.run(["-", "--split-input-file", "-o", "/dev/null"], SPLIT.join(chunks))
        found, starts = [[] for _ in chunks], [1]
        for chunk in chunks:
            starts.append(starts[-1] + (chunk + SPLIT).count("\n"))
        for line, column, message in ERROR.findall(result.stderr):
            number = max(i for i in range(len(chunks)) if starts[i] <= int(line))
            found[number].append((int(line) - starts[number], int(column) - 1, message))
        if result.returncode and not any(found):
            sys.exit(f"expected messages with positions, got exit status {result.returncode}\n{result.stderr}")
        return found

    def resolve(self, examples):
        """Finds what each example leaves open and of which type it is, and then whether it verifies."""
        for example, found in zip(examples, self.errors([example.in_module() for example in examples])):
            lines = example.text.split("\n")
            for line, column, message in found:
                if message == "use of undeclared SSA value name":
                    example.types[VALUE.match(lines[line], column)[0]] = None
                else:
                    example.problem = message
            if not example.problem:
                example.types.update(dict.fromkeys(example.results()))
        # The message about a second use of another type says the type of the first one.
        unknown = [(example, name) for example in examples if not example.problem for name in example.types]
        uses = [f'{example.text}\n"example.use"({name}) : (none) -> ()' for example, name in unknown]
        for (example, name), found in zip(unknown, self.errors(uses)):
            match = OTHER_TYPE.search(found[0][2]) if found else None
            if match:
                example.types[name] = match[1]
            else:
                example.problem = f"expected {name} to have a type, got {found}"
        good = [example for example in examples if not example.problem]
        for example, found in zip(good, self.errors([example.complete() for example in good])):
            example.problem = found[0][2] if found else ""
        for example in examples:
            self.count += 1
            if example.problem:
                self.problems.append(f"{example.where}: {example.problem}")

    def check_page(self, page):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        sections = list(SECTION.finditer(text))
        ends = [match.start() for match in sections[1:]] + [len(text)]
        examples = self.examples(page, text, 0, sections[0].start()) if sections else []
        for match, end in zip(sections, ends):
            where = f"{page}:{text.count(chr(10), 0, match.end())}"
            if match[1].startswith("-"):
                self.check_pass(where, match[1][1:], text, match.end(), end)
                continue
            found = self.examples(page, text, match.end(), end)
            examples += found
            # The mnemonic of an attribute or type stands behind `Syntax:`, if it has one.
            syntax = re.search(r"^Syntax:\s*(?:```\n|`)([#!]attn\.\w+)", text[match.end() : end], re.MULTILINE)
            used = syntax[1] if syntax else {"TileType": "!attn.tile"}.get(match[1], match[1])
            is_reference = used.startswith("attn.") or match[1].endswith(("Attr", "Type"))
            if is_reference and not any(re.search(re.escape(used) + r"\b", example.text) for example in found):
                self.problems.append(f"{where}: expected an example of {used}")
        self.resolve(examples)
        for mention in PASS.finditer(text):
            self.check_mention(f"{page}:{text.count(chr(10), 0, mention.start()) + 1}", mention)

    @staticmethod
    def examples(page, text, start, end):
        blocks = [block for block in BLOCK.finditer(text, start, end) if block["inline"] or block["language"] == "mlir"]
        return [Example(f"{page}:{text.count(chr(10), 0, block.start()) + 1}", block["inline"] or block["text"])
                for block in blocks]

    def check_mention(self, where, mention):
        if mention[1] not in self.known:
            self.problems.append(f"{where}: expected a pass or tool, got {mention[1]}")
        elif mention[2] and "rror" in (said := self.run(["-", option(mention)], "").stderr):
            self.problems.append(f"{where}: {mention[0]}: {said.strip()}")

    def check_pass(self, where, name, text, start, end):
        """Runs the examples of one pass."""
        page = where.rsplit(":", 1)[0]
        label_start, example, options = start, None, set()
        for block in BLOCK.finditer(text, start, end):
            label = text[label_start : block.start()].rstrip("\n").rsplit("\n\n", 1)[-1].strip()
            label_start = block.end()
            at = f"{page}:{text.count(chr(10), 0, block.start()) + 1}"
            kind = re.match(r"\w*", label)[0]
            if block["language"] not in ("mlir", "text"):
                continue
            if kind == "Before":
                example = Example(at, block["text"], returns=True)
                self.resolve([example])
                continue
            if kind not in ("After", "Error") or not example:
                self.problems.append(f"{at}: expected Before, then After or Error, in front of a block, got '{label}'")
            elif not example.problem:
                mention = PASS.search(label) or PASS.match(f"`{name}`")
                options.update(re.findall(r"([\w-]+)(?:=|\s|$)", mention[2] or ""))
                self.compare(at, example, kind, mention, block["text"])
        if not example:
            self.problems.append(f"{where}: expected an example of {name}, Before and After")
        listed = re.findall(r"^-([\w-]+) +:", text[start:end], re.MULTILINE)
        self.problems += [f"{where}: expected an example with the option {one}" for one in listed if one not in options]

    def compare(self, where, example, kind, mention, expected):
        self.count += 1
        result = self.run(["-", option(mention), "--mlir-print-local-scope"], example.complete())
        output = result.stdout if kind == "After" else result.stderr
        if (result.returncode == 0) != (kind == "After"):
            wanted = "succeed" if kind == "After" else "fail"
            self.problems.append(f"{where}: expected {mention[0]} to {wanted}, got exit status {result.returncode}\n"
                                 f"{result.stderr}")
            return
        position, words = 0, normalize(output)
        for part in normalize(expected).split("..."):
            found = words.find(part.strip(), position)
            if found < 0:
                self.problems.append(f"{where}: expected {mention[0]} to print '{part.strip()}', got\n{output}")
                return
            position = found + len(part.strip())


def option(mention):
    """The command-line option for `pass{options}`."""
    return f"--{mention[1]}={mention[2]}" if mention[2] else f"--{mention[1]}"


def normalize(text):
    """Text without names of values, comments and line breaks."""
    return re.sub(r"\s+", " ", VALUE.sub("%", re.sub(r"//[^\n]*", "", text))).strip()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    checker = Checker(sys.argv[1])
    for page in sys.argv[2:]:
        checker.check_page(page)
    checker.problems.sort(key=lambda problem: (problem.split(":")[0], int(problem.split(":")[1])))
    print("\n".join(checker.problems + [f"{checker.count} examples, {len(checker.problems)} problems"]))
    return 1 if checker.problems or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
