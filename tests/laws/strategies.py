"""Random discrete pairs for hypothesis: zeros, ties and denormals included."""

import numpy as np
from hypothesis import strategies as st

from tradeoff import RatioProfile

_TINY = [5e-324, 1e-310, 2.2e-308, 1e-200]
_WEIGHTS = st.one_of(
    st.just(0.0),
    st.sampled_from([1.0, 2.0, 3.0]),
    st.floats(1e-9, 1.0),
    st.sampled_from(_TINY),
)


def _normalized(weights):
    """Divide by the sum, and leave tiny masses as they are."""
    tiny = weights < 1e-150
    return np.where(tiny, weights, weights / weights[~tiny].sum())


@st.composite
def _few_masses(draw, size):
    weights = np.array(draw(st.lists(_WEIGHTS, min_size=size, max_size=size)))
    weights[draw(st.integers(0, size - 1))] = 1.0
    return _normalized(weights)


def _many_masses(rng, size):
    """As above for sizes at which drawing atom by atom would be slow."""
    kinds = rng.integers(0, 4, size)
    weights = np.choose(
        kinds,
        [
            np.zeros(size),
            rng.integers(1, 4, size).astype(float),
            10.0 ** rng.uniform(-9, 0, size),
            rng.choice(_TINY, size),
        ],
    )
    weights[rng.integers(size)] = 1.0
    return _normalized(weights)


@st.composite
def pairs(draw, max_size=200, *, tiny=True):
    """Two laws on the same atoms, (p, q)."""
    size = draw(st.integers(1, min(max_size, 6)) | st.integers(1, max_size))
    if size <= 6:
        p, q = draw(_few_masses(size)), draw(_few_masses(size))
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        p, q = _many_masses(rng, size), _many_masses(rng, size)
    if not tiny:
        p, q = (np.where(mass < 1e-150, 0.0, mass) for mass in (p, q))
    return (p, p.copy()) if draw(st.integers(0, 9)) == 0 else (p, q)


def profiles(max_size=200, *, tiny=True):
    return pairs(max_size, tiny=tiny).map(lambda pair: RatioProfile.from_masses(*pair))


lams = st.one_of(
    st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), st.floats(1e-6, 1e6), st.floats(1e-300, 1e300)
)
