"""Expands a template as SAM does, once for each line of parameters; run by the SAM CLI's own Python.

SAM's translator pins libraries that ours must not be held to, so it cannot stand in the project's environment;
importing it takes two seconds, so one process answers every question.

Shape: `expand.py TEMPLATE`; parameters as a line of JSON in, the expanded template as a line of JSON out.
"""

import json
import sys
from pathlib import Path
from typing import Any

from samtranslator.translator.transform import transform  # type: ignore[import-not-found]
from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-not-found]

PLACES = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}


class NoManagedPolicies:
    """Answers the translator's question for AWS's managed policies, of which we use none, without asking AWS."""

    def load(self) -> dict[str, str]:
        """Return no policy."""
        return {}


def expand(template: Path, parameters: dict[str, Any]) -> dict[str, Any]:
    """Expand a template; code stands in a bucket, as after `sam package`."""
    source = yaml_parse(template.read_text())
    source["Globals"]["Function"].pop("CodeUri")
    for resource in source["Resources"].values():
        if place := PLACES.get(resource["Type"]):
            resource["Properties"][place] = "s3://bucket/key"
    expanded: dict[str, Any] = transform(source, parameters, NoManagedPolicies())
    return expanded


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(expand(Path(sys.argv[1]), json.loads(line))), flush=True)
