"""What the shipped handlers send to others, and the walls around it.

A worker holds credentials, and its loopback holds Lambda's runtime API, so whoever may create a job must not choose
what a worker reaches. `http` goes to public addresses alone, to the very one that was checked; the handlers of AWS's
services go to the ARNs that the template allows, which the worker's role says a second time.

A request that can never work is dead at once (`Discard`, with every fault); all else is an attempt that failed.
"""
