"""All flows."""

from tests.crashes import flows_of_attempts, flows_of_jobs, flows_of_schedules, flows_of_slots

FLOWS = (*flows_of_jobs.FLOWS, *flows_of_attempts.FLOWS, *flows_of_schedules.FLOWS, *flows_of_slots.FLOWS)
