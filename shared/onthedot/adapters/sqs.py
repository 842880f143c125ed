"""The queues: batches of ten, each entry judged by itself, for a call that answers 200 may still refuse entries."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from onthedot.adapters.aws import THROTTLES, call
from onthedot.messages import ShardMessage, job_text, shard_text
from onthedot.rules.agenda import Entry, delay_seconds
from onthedot.steps.ports import Clock, Depth, Refusal, SideBySide

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import BatchResultErrorEntryTypeDef

logger = logging.getLogger(__name__)

BATCH = 10
"""Source: SendMessageBatch takes ten entries and 1 MiB (botocore sqs model; read 2026-11-29)."""
MAX_VISIBILITY = 43_200
"""Source: VisibilityTimeout is at most 12 hours (botocore sqs model; read 2026-11-29)."""
ROUNDS = 3
"""How often an entry is sent before it is called refused; what was accepted is not sent again."""

DEPTH_ATTRIBUTES: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


@dataclass(frozen=True, slots=True)
class JobQueue:
    """Hands jobs over to the workers."""

    client: "SQSClient"
    clock: Clock
    side_by_side: SideBySide
    url: str

    def send(self, entries: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        """Send a message for each entry, to arrive not before it is due; return those that were not accepted."""
        refusals: list[Refusal] = []
        left = list(entries)
        for _ in range(ROUNDS):
            refused = self._send_once(left, due_at)
            refusals += [refusal for refusal in refused if refusal.vain]
            again = [refusal for refusal in refused if not refusal.vain]
            left = [refusal.entry for refusal in again]
            if not left:
                return refusals
            self.clock.pause()
        return refusals + again

    def _send_once(self, entries: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        batches = [entries[start : start + BATCH] for start in range(0, len(entries), BATCH)]
        answers = self.side_by_side(lambda batch: self._send_batch(batch, due_at), batches)
        return [refusal for answer in answers for refusal in answer]

    def _send_batch(self, batch: Sequence[Entry], due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        now = self.clock.now()
        try:
            answer = self.client.send_message_batch(
                QueueUrl=self.url,
                Entries=[
                    {
                        "Id": str(number),
                        "MessageBody": job_text(entry),
                        "DelaySeconds": delay_seconds(due_at(entry), now),
                    }
                    for number, entry in enumerate(batch)
                ],
            )
        except (ClientError, BotoCoreError) as error:
            return [Refusal(entry, str(error), vain=False) for entry in batch]
        return [
            Refusal(batch[int(failed["Id"])], f"{failed['Code']}: {failed.get('Message', '')}", _is_vain(failed))
            for failed in answer.get("Failed", [])
        ]


def _is_vain(failed: "BatchResultErrorEntryTypeDef") -> bool:
    """Tell whether the message itself is at fault: a throttle, or a key that cannot be used, may pass."""
    code = failed["Code"]
    return failed["SenderFault"] and code not in THROTTLES and not code.lower().startswith("kms")


@dataclass(frozen=True, slots=True)
class ShardQueue:
    """Asks dispatchers to look at shards."""

    client: "SQSClient"
    url: str

    def ask(self, messages: Iterable[ShardMessage]) -> None:
        """Send the messages, and none the less for one that is refused.

        Raises: RuntimeError when SQS did not accept one; the timer's next tick asks again.
        """
        texts = [shard_text(message) for message in messages]
        refused = [why for start in range(0, len(texts), BATCH) for why in self._refused(texts[start : start + BATCH])]
        if refused:
            raise RuntimeError(f"SQS did not accept {len(refused)} messages: {refused[0]}")

    def _refused(self, texts: Sequence[str]) -> list[str]:
        try:
            answer = self.client.send_message_batch(
                QueueUrl=self.url,
                Entries=[{"Id": str(number), "MessageBody": text} for number, text in enumerate(texts)],
            )
        except (ClientError, BotoCoreError) as error:
            return [str(error)] * len(texts)
        return [f"{failed['Code']}: {failed.get('Message', '')}" for failed in answer.get("Failed", [])]


@dataclass(frozen=True, slots=True)
class StrayQueue:
    """Keeps the messages that no one can act on."""

    client: "SQSClient"
    url: str

    def keep(self, text: str, reason: str) -> None:
        """Keep a message with its text, and the reason as an attribute."""
        self.client.send_message(
            QueueUrl=self.url,
            MessageBody=text or " ",
            MessageAttributes={"reason": {"DataType": "String", "StringValue": reason[:1000]}},
        )


@dataclass(frozen=True, slots=True)
class Held:
    """Decides when a message that is not acknowledged is seen again."""

    client: "SQSClient"
    url: str

    def hold(self, receipt: str, seconds: int) -> None:
        """Hide the message for so long. If that fails the queue's own visibility brings it back: later, never lost."""
        try:
            self.client.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=receipt, VisibilityTimeout=min(seconds, MAX_VISIBILITY)
            )
        except (ClientError, BotoCoreError) as error:
            logger.warning("message_not_held", extra={"reason": str(error)})


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """Counts what is in the queues."""

    client: "SQSClient"
    clock: Clock
    side_by_side: SideBySide
    urls: Mapping[str, str]

    def __call__(self) -> dict[str, Depth]:
        """Return the depth of each queue by its name."""
        return dict(zip(self.urls, self.side_by_side(self._depth, self.urls.values()), strict=True))

    def _depth(self, url: str) -> Depth:
        answer = call(
            self.clock, lambda: self.client.get_queue_attributes(QueueUrl=url, AttributeNames=list(DEPTH_ATTRIBUTES))
        )
        return Depth(*(int(answer["Attributes"].get(name, 0)) for name in DEPTH_ATTRIBUTES))
