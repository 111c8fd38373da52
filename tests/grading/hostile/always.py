"""The cases that every run of the tests grades: of each kind of attack at least one, and none that takes long."""

from __future__ import annotations

ALWAYS = frozenset(
    (
        # well-meaning, and no less odd
        *("good_other_words", "good_own_cells", "good_magics", "good_changed_defaults"),
        # notebooks: cells lost, moved or spoilt, formats, no notebook at all
        *("cells_stripped", "cells_merged", "answer_hidden_twice", "checks_deleted", "setup_spoilt"),
        *("format_3", "format_bom_crlf", "none_not_json", "none_deep_json"),
        # archives, links, pipes, names
        *("zip_honest", "zip_climbs", "zip_link", "zip_bomb", "link_to_a_secret", "pipe"),
        *("name_formula", "name_script", "name_sql", "name_control", "name_no_text"),
        # time, memory, processes, output, disk
        *("endless_loop", "memory_30_gb", "children", "output_50_mb", "disk_3_gb", "open_files"),
        # ends, kills, crashes, refuses to end
        *("os_exit_inside", "os_exit_in_own_cell", "kills_everything", "segfault", "at_exit", "input"),
        # pries: the environment, files, memory, truths, solutions
        *("reads_environment", "reads_files", "reads_memory", "collects_truths", "reads_solutions"),
        # writes, deletes, mounts, calls
        *("writes", "deletes", "remounts", "calls", "spoils_the_course"),
        # forges: patches, the channel, what is known by heart, stored outputs, markers
        *("patches_check", "patches_torch", "writes_to_the_channel", "evidence_by_heart"),
        *("patches_for_all", "forged_outputs", "nbval_markers"),
        # what is costly to judge, read or show
        *("evidence_deeply_nested", "evidence_huge_text", "code_nul", "error_html", "error_formula"),
    )
)
