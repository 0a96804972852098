"""What the tests share."""

import pytest

import oneread

REMOVABLE = [
    oneread.CountingBloomFilter,
    oneread.DLeftCountingFilter,
    oneread.LineFilter,
    oneread.GrowingLineFilter,
]
KINDS = [
    oneread.BloomFilter,
    oneread.BlockedBloomFilter,
    oneread.DLeftFilter,
    oneread.GrowingFilter,
    *REMOVABLE,
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture(params=REMOVABLE, ids=lambda kind: kind.__name__)
def removable(request):
    return request.param
