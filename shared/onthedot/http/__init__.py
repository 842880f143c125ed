"""The HTTP contract of `api.md`: what comes in is judged here, one step is called, what comes out is written here.

    event --events--> Request --json_text, shapes, jobs_in--> a step --> views --json_text--> Answer --> event

Routing is Powertools', shapes are pydantic's; the reading of JSON is our own, since a payload must come back exactly.
"""
