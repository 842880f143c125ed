"""The designs that hand-over stands beside, each in few lines, on clients that are set as ours are.

Source: airbnb/dynein, PartitionWorker and DynamoDBScheduleManager; bahrmichael/aws-scheduler, event_loader and
scheduler (both read 2026-11-30). Their logs, metrics and repairs are left out.
"""

import json
import math
import time
from dataclasses import dataclass
from typing import Any

PAGE, CHUNK, BATCH = 500, 200, 10
QUEUE = "http://127.0.0.1:1/jobs"


@dataclass(frozen=True, slots=True)
class ClaimSendDelete:
    """Dynein: a conditional write claims each job, a message of its own wakes it, a conditional delete ends it."""

    dynamodb: Any
    sqs: Any

    def run(self) -> None:
        """Hand over what is overdue, page by page, until a page is not full."""
        while self.page() == PAGE:
            pass

    def page(self) -> int:
        """Hand over a page of what is overdue, and return how much that was."""
        answer = self.dynamodb.query(
            TableName="schedules",
            KeyConditionExpression="#shard = :shard and #token < :token",
            FilterExpression="#status = :status",
            ExpressionAttributeNames={"#shard": "shard_id", "#token": "date_token", "#status": "job_status"},
            ExpressionAttributeValues={
                ":shard": {"S": "0"},
                ":token": {"S": str(int(time.time() * 1000))},
                ":status": {"S": "SCHEDULED"},
            },
            Limit=PAGE,
        )
        for item in answer["Items"]:
            key = {"shard_id": item["shard_id"], "date_token": item["date_token"]}
            self._claim(key)
            queue = json.loads(item["job_spec"]["S"])["queue"]
            self.sqs.send_message(QueueUrl=f"{QUEUE}-{queue}", MessageBody=item["job_spec"]["S"])
            self._delete(key)
        return int(answer["Count"])

    def _claim(self, key: Any) -> None:
        self.dynamodb.update_item(
            TableName="schedules",
            Key=key,
            UpdateExpression="SET #status = :new",
            ConditionExpression="#status = :old",
            ExpressionAttributeNames={"#status": "job_status"},
            ExpressionAttributeValues={":old": {"S": "SCHEDULED"}, ":new": {"S": "ACQUIRED"}},
            ReturnValues="UPDATED_NEW",
        )

    def _delete(self, key: Any) -> None:
        self.dynamodb.delete_item(
            TableName="schedules",
            Key=key,
            ConditionExpression="#status = :acquired",
            ExpressionAttributeNames={"#status": "job_status"},
            ExpressionAttributeValues={":acquired": {"S": "ACQUIRED"}},
        )


@dataclass(frozen=True, slots=True)
class ReadGetSend:
    """aws-scheduler: the keys of a minute go to a second function by 200, which gets each job and sends by ten."""

    dynamodb: Any
    sqs: Any

    def run(self) -> None:
        """Hand over a minute, page by page."""
        while self.page():
            pass

    def page(self) -> int:
        """Hand over a page of a minute, and return how much that was."""
        ids = self._keys()
        for start in range(0, len(ids), CHUNK):
            self._schedule(json.loads(json.dumps(ids[start : start + CHUNK])))
        return len(ids)

    def _keys(self) -> list[str]:
        answer = self.dynamodb.query(
            TableName="events",
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": str(int(time.time() // 60))}},
            ProjectionExpression="sk",
            Limit=PAGE,
        )
        return [item["sk"]["S"] for item in answer["Items"]]

    def _schedule(self, ids: list[str]) -> None:
        entries: list[dict[str, Any]] = []
        for number, name in enumerate(ids):
            key = {"pk": {"S": "0"}, "sk": {"S": name}}
            item = self.dynamodb.get_item(TableName="events", Key=key)["Item"]
            body = json.dumps({"payload": item["payload"]["S"], "target": item["target"]["S"], "id": name})
            delay = max(0, math.ceil(float(item["due"]["N"]) - time.time()))
            entries.append({"Id": str(number % BATCH), "MessageBody": body, "DelaySeconds": delay})
            if len(entries) == BATCH:
                self.sqs.send_message_batch(QueueUrl=QUEUE, Entries=entries)
                entries = []
        if entries:
            self.sqs.send_message_batch(QueueUrl=QUEUE, Entries=entries)
