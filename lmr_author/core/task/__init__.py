"""The task folder and every record in it."""

from lmr_author.core.task.accepted import Finding, Severity
from lmr_author.core.task.evaluation import Evaluation, GateResult, GateStatus
from lmr_author.core.task.folder import (
    AUTHORING,
    GOLDEN,
    INFO,
    NOT_SHIPPED,
    UNIT_TEST,
    Task,
    TaskState,
    by_name,
    golden_name,
    tasks_at,
    unit_test_name,
)
from lmr_author.core.task.info import (
    CATEGORIES,
    TORCH_FAMILY,
    Implementation,
    Progress,
    Target,
    TaskInfo,
    require_category,
)
from lmr_author.core.task.record import Record
