#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion - write what bash, zsh and fish complete of reusetrack

	completion.py REUSETRACK DIR

The verbs and options are those that reusetrack --help and the help of each verb
list. Writes DIR/reusetrack (bash), DIR/_reusetrack (zsh) and
DIR/reusetrack.fish.
"""
import re
import subprocess
import sys
from pathlib import Path

# Verbs whose argument is a program, or an output directory; of others a file.
PROGRAMS = {"record"}
DIRECTORIES = {"report", "diff", "export", "predict", "simulate", "sweep"}


def help_of(tool, *args):
    return subprocess.run([tool, *args, "--help"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def verbs_of(text):
    return dict(re.findall(r"^  ([a-z]+) +(\S.*)$",
                           text.split("Start with:")[0], re.M))


def options_of(text):
    """The options as {"--name": (letter or "", takes a value, what it does)}."""
    found = {}
    for line in text.split("\n"):
        m = re.match(r"  (?:-(\w), |    )--([a-z0-9-]+)(\[?=?[A-Z][\w,=]*\]?)?"
                     r"(?:  +| +(?=[a-z]))?(.*)$", line)
        if m:
            value = m[3]
            rest = m[4].strip()
            if not value:
                v = re.match(r"([A-Z][A-Z_,]*)\b *(.*)", rest)
                if v:
                    value, rest = v[1], v[2]
            found["--" + m[2]] = (m[1] or "", bool(value), rest)
    found["--help"] = ("h", False, "print the help")
    return found


def bash(verbs):
    out = ["# bash completion for reusetrack; made from its help",
           "_reusetrack()", "{",
           '\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}',
           "\tCOMPREPLY=()",
           "\tif [ \"$COMP_CWORD\" = 1 ]; then",
           "\t\tmapfile -t COMPREPLY < <(compgen -W "
           f"'{' '.join(verbs)} --help --version' -- \"$word\")",
           "\t\treturn", "\tfi", '\tcase $verb in']
    for verb, (_, options) in verbs.items():
        kind = ("-c" if verb in PROGRAMS else
                "-d" if verb in DIRECTORIES else "-f")
        out += [f"\t{verb})", '\t\tif [[ $word == -* ]]; then',
                "\t\t\tmapfile -t COMPREPLY < <(compgen -W "
                f"'{' '.join(options)}' -- \"$word\")", "\t\telse",
                f"\t\t\tmapfile -t COMPREPLY < <(compgen {kind} -- \"$word\")",
                "\t\tfi", "\t\t;;"]
    return "\n".join(out + ["\tesac", "}",
                            "complete -o filenames -F _reusetrack reusetrack",
                            ""])


def quoted(text):
    return re.sub(r"[\[\]':\\]", " ", text)


def zsh(verbs):
    out = ["#compdef reusetrack", "# made from the help of reusetrack",
           "_reusetrack() {", "\tlocal -a verbs", "\tverbs=("]
    out += [f"\t\t'{verb}:{quoted(summary)}'"
            for verb, (summary, _) in verbs.items()]
    out += ["\t)", "\tif (( CURRENT == 2 )); then",
            "\t\t_describe verb verbs", "\t\treturn", "\tfi",
            "\tcase $words[2] in"]
    for verb, (_, options) in verbs.items():
        out.append(f"\t{verb})")
        out.append("\t\t_arguments \\")
        for name, (_, value, what) in options.items():
            tail = ":value:_files" if value else ""
            out.append(f"\t\t\t'{name}[{quoted(what)}]{tail}' \\")
        rest = ("_command_names" if verb in PROGRAMS else
                "_files -/" if verb in DIRECTORIES else "_files")
        out += [f"\t\t\t'*:argument:{rest}'", "\t\t;;"]
    return "\n".join(out + ["\tesac", "}", '_reusetrack "$@"', ""])


def fish(verbs):
    out = ["# fish completion for reusetrack; made from its help"]
    for verb, (summary, options) in verbs.items():
        out.append("complete -c reusetrack -f -n __fish_use_subcommand "
                   f"-a {verb} -d '{quoted(summary)}'")
        for name, (letter, value, what) in options.items():
            out.append("complete -c reusetrack -n "
                       f"'__fish_seen_subcommand_from {verb}' -l {name[2:]}" +
                       (f" -s {letter}" if letter else "") +
                       (" -r" if value else "") + f" -d '{quoted(what)}'")
    return "\n".join(out + [""])


def main():
    tool, to = sys.argv[1], Path(sys.argv[2])
    verbs = {verb: (summary, options_of(help_of(tool, verb)))
             for verb, summary in verbs_of(help_of(tool)).items()}
    to.mkdir(parents=True, exist_ok=True)
    (to / "reusetrack").write_text(bash(verbs))
    (to / "_reusetrack").write_text(zsh(verbs))
    (to / "reusetrack.fish").write_text(fish(verbs))


if __name__ == "__main__":
    main()
