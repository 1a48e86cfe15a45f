"""Every rule: a module each, named after the rule's code and name, loaded when a file shows a sign that the rule goes by.

A new rule is a module here and a line below.
"""

from __future__ import annotations

import sys

from cfq_lint.rules import signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.rules.rule import Rule

MODULES: dict[str, tuple[str, ...]] = {
    "cfq001_parse_error": (signs.FAULT,),
    "cfq002_json5_syntax": (signs.FAULT,),
    "cfq003_duplicate_key": (signs.REPEATED_KEY,),
    "cfq004_utf8_bom": (signs.ODD_FILE,),
    "cfq005_wrong_encoding": (signs.ODD_FILE,),
    "cfq006_shadowed_config": (signs.ODD_FILE,),
    "cfq007_redirected_config": (signs.ODD_FILE,),
    "cfq008_broken_redirect": (signs.ODD_FILE,),
    "cfq009_unused_ignore": (signs.NEVER,),
    "cfq101_queues_not_object": (signs.ILL_FORMED,),
    "cfq102_queues_list_not_array": (signs.ILL_FORMED,),
    "cfq103_entry_not_object": (signs.ILL_FORMED,),
    "cfq104_unknown_queues_key": (signs.ILL_FORMED,),
    "cfq105_unknown_consumer_key": (signs.ILL_FORMED,),
    "cfq106_unknown_producer_key": (signs.ILL_FORMED,),
    "cfq107_queue_key_misnamed": (signs.ILL_FORMED,),
    "cfq108_setting_not_in_file": (signs.ILL_FORMED,),
    "cfq109_wrong_type": (signs.ILL_FORMED,),
    "cfq110_consumer_queue_missing": (signs.ILL_FORMED,),
    "cfq111_producer_binding_missing": (signs.ILL_FORMED,),
    "cfq112_producer_queue_provisioned": (signs.NO_NAME,),
    "cfq113_invalid_queue_name": (signs.ILL_FORMED,),
    "cfq114_queue_name_placeholder": (signs.ILL_FORMED,),
    "cfq115_queue_name_looks_like_id": (signs.ID,),
    "cfq116_invalid_binding_name": (signs.ILL_FORMED,),
    "cfq117_binding_name_conflict": (signs.REPEATED_BINDING,),
    "cfq201_max_batch_size_range": (signs.ILL_FORMED,),
    "cfq202_max_batch_timeout_range": (signs.ILL_FORMED,),
    "cfq203_max_retries_range": (signs.ILL_FORMED,),
    "cfq204_max_concurrency_range": (signs.ILL_FORMED,),
    "cfq205_retry_delay_range": (signs.ILL_FORMED,),
    "cfq206_delivery_delay_range": (signs.ILL_FORMED,),
    "cfq207_visibility_timeout_range": (signs.ILL_FORMED,),
    "cfq208_cpu_limit_range": (signs.CPU_LIMIT,),
    "cfq209_max_concurrency_null": (signs.ILL_FORMED,),
    "cfq210_retry_budget_too_hot": (signs.RETRIES,),
    "cfq301_consumer_without_dlq": (signs.NO_DEAD_LETTERS,),
    "cfq302_dlq_self": (signs.OWN_DEAD_LETTERS,),
    "cfq303_dlq_cycle": (
        signs.CHAINED_DEAD_LETTERS,
        signs.SEVERAL_FILES,
    ),
    "cfq304_dlq_no_consumer": (signs.UNCONSUMED_DEAD_LETTERS,),
    "cfq305_dlq_name_near_miss": (signs.UNCONSUMED_DEAD_LETTERS,),
    "cfq306_dlq_jurisdiction_mismatch": (signs.FACTS,),
    "cfq307_retries_exceed_retention": (signs.RETRY_DELAY,),
    "cfq308_delay_exceeds_retention": (
        signs.RETRY_DELAY,
        signs.FACTS,
    ),
    "cfq309_no_retries_no_dlq": (signs.NO_RETRIES,),
    "cfq310_retention_exceeds_plan": (signs.FACTS,),
    "cfq311_max_retries_implicit": (signs.CONSUMERS,),
    "cfq312_dlq_created_on_deploy": (signs.FACTS,),
    "cfq401_duplicate_consumer": (signs.REPEATED_CONSUMER,),
    "cfq402_queue_consumed_by_two_environments": (signs.SHARED_QUEUE,),
    "cfq403_queue_consumed_by_two_workers": (signs.SEVERAL_FILES,),
    "cfq404_queue_without_consumer": (signs.UNCONSUMED,),
    "cfq405_queue_without_producer": (signs.UNPRODUCED,),
    "cfq406_queue_not_provisioned": (signs.FACTS,),
    "cfq407_queue_name_near_miss": (signs.UNCONSUMED,),
    "cfq408_feedback_loop": (signs.LOOP,),
    "cfq409_pages_consumer": (signs.PAGES,),
    "cfq410_consumer_removed_still_attached": (signs.NEVER,),
    "cfq501_env_queues_not_inherited": (signs.BARE_ENVIRONMENT,),
    "cfq502_env_consumers_missing": (signs.FEWER_CONSUMERS,),
    "cfq503_env_producer_missing": (signs.FEWER_BINDINGS,),
    "cfq504_env_missing_in_file": (signs.SELECTED,),
    "cfq505_env_dlq_missing": (signs.LESS_DEAD_LETTERS,),
    "cfq506_env_shares_dlq": (signs.SHARED_DEAD_LETTERS,),
    "cfq507_env_settings_differ": (signs.ENVIRONMENTS,),
    "cfq601_consumer_type_not_worker": (signs.ILL_FORMED,),
    "cfq602_visibility_timeout_on_push": (signs.NO_EFFECT,),
    "cfq603_delivery_delay_no_effect": (signs.NO_EFFECT,),
    "cfq604_producer_remote_ignored": (signs.NO_EFFECT,),
    "cfq605_legacy_env": (signs.LEGACY,),
    "cfq701_batch_timeout_irrelevant": (signs.TIMEOUT,),
    "cfq702_zero_timeout_large_batch": (signs.TIMEOUT,),
    "cfq703_max_concurrency_pinned": (signs.CONCURRENCY,),
    "cfq801_queue_handler_missing": (signs.ENTRY,),
    "cfq802_v8_content_type_default": (signs.OLD_DATE,),
    "cfq803_conflicting_compatibility_flags": (signs.FLAGS,),
    "cfq804_python_workers_flag_missing": (signs.PYTHON,),
    "cfq805_wait_until_failures_ignored": (signs.FLAGS,),
    "cfq901_queue_missing": (signs.ACCOUNT,),
    "cfq902_consumer_differs": (signs.ACCOUNT,),
    "cfq903_dlq_missing": (signs.ACCOUNT,),
    "cfq904_dlq_unconsumed": (signs.ACCOUNT,),
    "cfq905_dlq_in_another_jurisdiction": (signs.ACCOUNT,),
    "cfq906_stale_consumer": (signs.ACCOUNT,),
    "cfq907_queue_consumed_elsewhere": (signs.ACCOUNT,),
    "cfq908_pull_consumer_in_the_way": (signs.ACCOUNT,),
    "cfq909_queue_paused": (signs.ACCOUNT,),
    "cfq910_retention_too_short": (signs.ACCOUNT,),
    "cfq911_oldest_message_expiring": (signs.ACCOUNT,),
    "cfq912_backlog_near_limit": (signs.ACCOUNT,),
    "cfq913_dlq_not_empty": (signs.ACCOUNT,),
    "cfq914_queue_unconsumed": (signs.ACCOUNT,),
    "cfq915_queue_unused": (signs.ACCOUNT,),
}
"""Every rule's module, in order of its code, and the signs of which a file must show one."""

OFF: frozenset[str] = frozenset(
    {
        "cfq311_max_retries_implicit",
        "cfq405_queue_without_producer",
        "cfq507_env_settings_differ",
        "cfq703_max_concurrency_pinned",
    }
)
"""The modules of the rules that run only when they are selected."""

SUPERSEDED: dict[str, str] = {
    "cfq304_dlq_no_consumer": "cfq904_dlq_unconsumed",
    "cfq305_dlq_name_near_miss": "cfq903_dlq_missing",
    "cfq306_dlq_jurisdiction_mismatch": "cfq905_dlq_in_another_jurisdiction",
    "cfq307_retries_exceed_retention": "cfq910_retention_too_short",
    "cfq308_delay_exceeds_retention": "cfq910_retention_too_short",
    "cfq312_dlq_created_on_deploy": "cfq903_dlq_missing",
    "cfq404_queue_without_consumer": "cfq914_queue_unconsumed",
    "cfq406_queue_not_provisioned": "cfq901_queue_missing",
    "cfq407_queue_name_near_miss": "cfq901_queue_missing",
}
"""The modules of rules that guess what another, by the account itself, knows: the second takes the first one's place."""


def code_of(module: str) -> str:
    """The code of the rule in a module."""
    return module[:6].upper()


def name_of(module: str) -> str:
    """The name of the rule in a module."""
    return module[7:].replace("_", "-")


BY_KEY: dict[str, str] = {key: module for module in MODULES for key in (code_of(module), name_of(module))}
"""Every rule's module by its code and by its name."""


def load(module: str) -> Rule:
    """The rule in a module. Raises KeyError where there is no such rule."""
    path = f"{__name__}.{module}"
    if path not in sys.modules:
        from importlib import import_module  # the first rule of a run needs it, a clean run does not

        if module not in MODULES:
            raise KeyError(module)
        import_module(path)
    rule: Rule = sys.modules[path].RULE
    return rule


def every_rule() -> tuple[Rule, ...]:
    """All rules, in order of their code."""
    return tuple(load(module) for module in MODULES)
