"""All flows. In short those are left out that are others once more, with other data and at length."""

from tests.crashes import flows_of_attempts, flows_of_jobs, flows_of_schedules, flows_of_slots
from tests.support.proving import IN_FULL

FLOWS = (*flows_of_jobs.FLOWS, *flows_of_attempts.FLOWS, *flows_of_schedules.FLOWS, *flows_of_slots.FLOWS)
ONCE_MORE = {
    "create a schedule, large",
    "delete, large",
    "edit, large",
    "plan the latest",
    "reschedule to far",
    "resume what was missed",
    "retry, large",
    "run, large",
}
PLAYED = [flow for flow in FLOWS if IN_FULL or flow.name not in ONCE_MORE]
