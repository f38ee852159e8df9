"""Every check, in the order of codes: the one place where a check is added."""

from __future__ import annotations

import difflib
from functools import cache

from lmr_author.checks import (
    docker,
    hygiene,
    instruction,
    leaks,
    masks,
    metadata,
    paper,
    records,
    unit_test,
)
from lmr_author.checks.base import Check
from lmr_author.errors import UsageError

ALL_CHECKS: tuple[Check, ...] = (
    metadata.info_readable,
    metadata.info_schema,
    metadata.legacy_spelling,
    metadata.category,
    metadata.instance_id,
    metadata.folder_name,
    metadata.target_named,
    metadata.unique_instance_id,
    metadata.index_numbers,
    metadata.paths_stay_inside,
    metadata.unique_target,
    metadata.unique_golden,
    paper.paper_present,
    paper.paper_readable,
    paper.repository_present,
    paper.no_pointers,
    docker.dockerfile_present,
    docker.image_contains_golden,
    docker.unquoted_versions,
    docker.directory_argument,
    docker.sources_exist,
    docker.repository_copied,
    docker.pinned,
    docker.pytorch_base,
    docker.runs_as_user,
    docker.downloads,
    docker.log_folder_exists,
    masks.goal_has_target,
    masks.golden_has_target,
    masks.really_masked,
    masks.same_outside,
    masks.docstring_kept,
    masks.signature_kept,
    masks.no_undefined_names,
    masks.not_silent,
    masks.nothing_kept,
    masks.raises_not_implemented,
    masks.same_text,
    masks.python_parses,
    leaks.compiled_solution,
    leaks.version_history,
    leaks.copy_elsewhere,
    leaks.solution_in_comments,
    leaks.golden_inside,
    leaks.package_installed,
    unit_test.test_exists,
    unit_test.cannot_fail,
    unit_test.swallows,
    unit_test.compares_with_itself,
    unit_test.uses_golden,
    unit_test.names_target,
    unit_test.writes_verdict,
    unit_test.fixtures_exist,
    unit_test.runs_anywhere,
    unit_test.goal_is_not_test,
    unit_test.test_in_its_folder,
    unit_test.recordings_untouched,
    unit_test.own_log_file,
    unit_test.compares_enough,
    unit_test.finds_repository,
    unit_test.seeded,
    instruction.instruction_present,
    instruction.instruction_files,
    instruction.instruction_names,
    instruction.implement_the_paper,
    instruction.retrieval_paths,
    instruction.names_the_target,
    instruction.body_not_given_away,
    instruction.inputs_and_outputs,
    hygiene.no_system_files,
    hygiene.no_caches,
    hygiene.no_logs,
    hygiene.ordinary_files,
    records.provenance_present,
    records.records_valid,
    records.records_current,
    records.accepted_used,
)


GROUPS = {
    "0": "Metadata",
    "1": "Paper and repository",
    "2": "Environment",
    "3": "Masking and golden",
    "4": "Leaks",
    "5": "Unit tests and recordings",
    "6": "Instruction",
    "7": "Hygiene",
    "8": "Authoring records",
}
"""What the first digit of a code stands for."""


@cache
def by_code() -> dict[str, Check]:
    """Return every check by its code."""
    return {check.code: check for check in ALL_CHECKS}


def matching(code: str) -> tuple[Check, ...]:
    """Return the checks whose code begins so. Raises UsageError when there is none."""
    wanted = code.strip().upper()
    found = tuple(check for check in ALL_CHECKS if wanted.startswith("LMR") and check.code.startswith(wanted))
    if not found:
        close = difflib.get_close_matches(wanted, list(by_code()), 3, 0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else "`lmr-author explain` lists them"
        raise UsageError(f"no check has the code {code!r}", hint)
    return found
