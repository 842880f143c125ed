"""What happens to jobs, schedules and shards, each with its one name."""

from enum import StrEnum


class Event(StrEnum):
    """What is told of a job, a schedule or a shard: one log line each."""

    JOB_CREATED = "job_created"  # accepted and stored
    JOB_RESCHEDULED = "job_rescheduled"  # has another time
    JOB_NOT_HANDED_OVER = "job_not_handed_over"  # SQS did not take it; drain will try again
    JOB_STARTED = "job_started"  # an attempt owns it
    JOB_GIVEN_BACK = "job_given_back"  # its handler could not be called in time; the start is undone
    ATTEMPT_FAILED = "attempt_failed"  # the job waits for its next attempt
    JOB_STOPPING = "job_stopping"  # somebody asked a running job to stop
    JOB_TAKEN_OVER = "job_taken_over"  # its worker died, the next attempt owns it
    JOB_RESCUED = "job_rescued"  # SQS gave up on its message; it goes through the queue again
    JOB_SUCCEEDED = "job_succeeded"  # its handler returned
    JOB_DEAD = "job_dead"  # its last attempt failed
    JOB_REVIVED = "job_revived"  # goes again after its outcome, from its first attempt on
    JOB_CANCELLED = "job_cancelled"  # taken back before it ran, or stopped
    JOB_SKIPPED = "job_skipped"  # could no longer start in time
    FINISH_LOST = "finish_lost"  # an attempt ended after another had taken its job over; it changed nothing
    JOB_WAITS = "job_waits"  # an earlier slot of its schedule still runs; it looks again in a minute
    JOB_SUPERSEDED = "job_superseded"  # an edit of its schedule made it void before it ran; it is gone
    SCHEDULE_CREATED = "schedule_created"  # accepted and stored
    SCHEDULE_EDITED = "schedule_edited"  # has another definition
    SCHEDULE_DELETED = "schedule_deleted"  # is gone, with its planned jobs
    SCHEDULE_PAUSED = "schedule_paused"  # its jobs do not run
    SCHEDULE_RESUMED = "schedule_resumed"  # its jobs run again
    SCHEDULE_ENDED = "schedule_ended"  # its timetable has no further slot
    SCHEDULE_BROKEN = "schedule_broken"  # its definition cannot be read; an edit mends it
    SCHEDULE_MOVED = "schedule_moved"  # another time zone database moved its slots
    SCHEDULE_FAILED = "schedule_failed"  # could not be planned; the next tick tries again
    SLOTS_PLANNED = "slots_planned"  # have become jobs
    SLOTS_MISSED = "slots_missed"  # were planned too late; the schedule's policy decided
    SLOTS_LOST = "slots_lost"  # nobody knows what became of them: this must not occur
    SHARD_DRAINED = "shard_drained"  # what wakes soon was handed over
    SHARD_SWEPT = "shard_swept"  # what is long overdue was handed over again
