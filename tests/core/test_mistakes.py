"""Users' mistakes get one clear sentence."""

import json

import numpy as np
import pytest

from examples.papers.exponential_family import GaussianFamily
from examples.papers.lipschitz_bounds import forward_lipschitz_bound
from tradeoff import (
    AcceptanceRule,
    HeldOutLogRatios,
    InvalidInputError,
    PRCurve,
    RatioProfile,
    UndefinedError,
)
from tradeoff.core import mauve, renyi_frontier
from tradeoff.core.budget import drs_acceptance
from tradeoff.core.divergence import KL, Amari, PRDivergence

PROFILE = RatioProfile.from_masses([0.5, 0.5], [0.5, 0.5])
CURVE = PROFILE.curve()
HELD_OUT = HeldOutLogRatios(real=[0.5, 0.1, -0.2], generated=[0.3, -0.1, -0.4])
CLIPPED = HELD_OUT.curve().clipped()
HELD_OUT = HeldOutLogRatios(real=[1.0], generated=[0.0])


def lipschitz(lam=1.0, **overrides):
    plain = {"lipschitz": 1.0, "latent_dim": 1, "radii": [1.0], "mass": [0.1]}
    return forward_lipschitz_bound(lam, **(plain | overrides))


def frontier(source):
    return renyi_frontier(source, order=1, kind="inclusive", weight=[0.5])


def altered(**fields):
    return json.dumps(json.loads(CURVE.to_json()) | fields)


def array(name, value):
    """A curve one of whose arrays holds another value."""
    content = json.loads(CURVE.to_json())[name]
    return altered(**{name: content | {"values": [value] * len(content["values"])}})


def scores(**overrides):
    return RatioProfile.from_scores(**({"real": [1.0, 2.0], "generated": [0.0, 1.0]} | overrides))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: RatioProfile.from_masses([3, 1], [2, 2]),
            "`p` must sum to 1. Got a sum of 4. Div",
        ),
        (
            lambda: RatioProfile.from_masses([1.0], [0.5, 0.5]),
            "masses of the same atoms. Got 1 and 2",
        ),
        (lambda: RatioProfile.from_masses([1.5, -0.5], [0.5, 0.5]), "not negative. Got -0.5"),
        (
            lambda: RatioProfile.from_masses([np.nan, 1], [0.5, 0.5]),
            "must not contain NaN. Got 1 of 2",
        ),
        (lambda: RatioProfile.from_masses([np.inf, 1], [0.5, 0.5]), "must be finite"),
        (lambda: RatioProfile.from_masses([[1.0]], [1.0]), r"one-dimensional. Got shape \(1, 1\)"),
        (lambda: RatioProfile.from_masses([], []), "`p` must hold at least one value"),
        (lambda: RatioProfile.from_masses(["a"], [1.0]), "`p` must be an array of numbers"),
        (lambda: scores(real=[np.nan]), "`real` must not contain NaN"),
        (lambda: scores(generated=[]), "`generated` must hold at least one value"),
        (lambda: scores(real_weights=[1.0]), "`real_weights` must hold one weight per sample, 2"),
        (lambda: scores(generated_weights=[0, 0]), "`generated_weights` must not be all zero"),
        (lambda: scores(real_weights=[1, -1]), "`real_weights` must be finite and not negative"),
        (lambda: RatioProfile.concatenate([]), "at least one profile"),
        (lambda: HeldOutLogRatios(real=[np.nan], generated=[0.0]), "`real` must not contain NaN"),
        (lambda: CURVE.precision(-1.0), r"`lam` must lie in \[0, inf\]. Got -1.0"),
        (lambda: CURVE.recall(np.nan), r"`lam` must lie in \[0, inf\]. Got nan"),
        (lambda: CURVE.precision_at_recall(1.2), r"`recall` must lie in \[0, 1\]. Got 1.2"),
        (lambda: CURVE.recall_at_precision(-0.1), r"`precision` must lie in \[0, 1\]"),
        (lambda: CURVE.is_attainable(precision=2, recall=0), r"`precision` must lie in \[0, 1\]"),
        (lambda: CURVE.f_score(0.0), "`weight` must be positive and finite. Got 0.0"),
        (lambda: CURVE.roc().collapsed_mass(2.0), r"`epsilon` must lie in \[0, 1\]"),
        (lambda: mauve(HELD_OUT, weight=[0.3, 1.5]), r"`weight` must lie in \[0, 1\]. Got 1.5"),
        (lambda: mauve(HELD_OUT, weight=[0.3, 1.0]), "`weight` must lie strictly between 0 and 1"),
        (lambda: CURVE.f_score("8a"), "`weight` must be a number. Got '8a'"),
        (lambda: CURVE.f_score([8]), r"`weight` must be one number. Got shape \(1,\)"),
        (lambda: CURVE.precision("a"), "`lam` must be an array of numbers. Got 'a'"),
        (lambda: KL().of(CURVE), "`profile` must be a RatioProfile. Got a PRCurve"),
        (lambda: KL().of_curve(PROFILE), "`curve` must be a PRCurve. Got a RatioProfile"),
        (lambda: PRDivergence(1.0).of(CURVE), "`profile` must be a RatioProfile"),
        (lambda: PRDivergence([1.0]), "`lam` must be one number"),
        (lambda: PRDivergence(np.ones(2)), r"`lam` must be one number. Got shape \(2,\)"),
        (lambda: PRDivergence(-1.0), "`lam` must be at least 0"),
        (lambda: Amari(np.nan), "`order` must be at least -inf. Got nan"),
        (lambda: np.inf * KL(), "`factor` must be positive and finite"),
        (lambda: KL().generator(["a"]), "must be an array of numbers"),
        (lambda: mauve(CURVE), "`source` must be a RatioProfile or HeldOutLogRatios"),
        (lambda: mauve(PROFILE, scaling=0), "`scaling` must be positive"),
        (
            lambda: renyi_frontier(CURVE, order=1, kind="inclusive", weight=[0.5]),
            "`source` must be",
        ),
        (lambda: RatioProfile.concatenate(PROFILE), "`profiles` must be a Sequence"),
        (lambda: HELD_OUT.merge(3), "`others` must be a HeldOutLogRatios. Got a int"),
        (lambda: AcceptanceRule.from_profile(CURVE, budget=2), "`profile` must be a RatioProfile"),
        (lambda: AcceptanceRule.from_profile(PROFILE, budget=None), "`budget` must be"),
        (lambda: AcceptanceRule.from_profile(PROFILE, budget=np.inf), "`budget` must be finite"),
        (lambda: drs_acceptance([0.0], log_max_ratio=0.0, gamma=np.nan), "`gamma` must be"),
        (lambda: lipschitz(lam=np.inf), "`lam` must be finite"),
        (lambda: lipschitz(lipschitz=np.inf), "`lipschitz` must be positive and finite"),
        (lambda: lipschitz(latent_dim=1.5), "`latent_dim` must be a whole number"),
        (lambda: lipschitz(mass=[0.1, 0.2]), "must be of one length. Got 1 and 2"),
        (lambda: GaussianFamily(1.5), "`dim` must be a whole number"),
        (lambda: GaussianFamily(1).natural([np.nan], [[1.0]]), "`mean` must be finite"),
        (lambda: GaussianFamily(2).natural([0, 0], [[1, 0.5], [0, 1]]), "finite and symmetric"),
        (lambda: PRCurve.from_json(None), "must be JSON written by"),
        (lambda: PRCurve.from_json(altered(slopes=["a"])), r"damaged \(slopes: \"\['a'\]\" is no"),
        (lambda: PRCurve.from_json(array("slopes", "a")), "slopes: an array of numbers holds"),
        (lambda: PRCurve.from_json(array("breakpoints", -1)), "positive, finite and ascending"),
        (lambda: PRCurve.from_json(altered(max_recall=None)), r"\(max_recall: 'None' is no"),
        (lambda: PRCurve.from_json("{"), "must be JSON written by PRCurve.to_json"),
        (lambda: PRCurve.from_json("[" * 100_000), "must be JSON written by PRCurve.to_json"),
        (lambda: PRCurve.from_json(array("slopes", "inf")), "`slopes` of a curve must lie"),
        (lambda: PRCurve.from_json(array("slopes", 1e308)), "`slopes` of a curve must lie"),
        (lambda: PRCurve.from_json(altered(lower=0)), r"\(lower: '0' is no"),
        (lambda: PRCurve.from_json(array("slopes", 10**400)), "OverflowError"),
        (lambda: PRCurve.from_json("[]"), "must have the schema tradeoff.PRCurve version 2. Got N"),
        (lambda: PRCurve.from_json('{"schema": "x"}'), "Got .'x'"),
    ],
)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        call()


def test_roles_cannot_be_swapped_by_position():
    with pytest.raises(TypeError):
        RatioProfile.from_scores([1.0], [0.0])
    with pytest.raises(TypeError):
        HeldOutLogRatios([1.0], [0.0])


def test_json_of_the_future_and_of_fragments():
    fields = json.loads(CURVE.to_json())
    with pytest.raises(InvalidInputError, match="schema tradeoff.PRCurve version 2. Got .*, 3"):
        PRCurve.from_json(json.dumps(fields | {"version": 3}))
    del fields["slopes"], fields["lower"]
    with pytest.raises(InvalidInputError, match="PRCurve has the fields .*slopes"):
        PRCurve.from_json(json.dumps(fields))
    with pytest.raises(InvalidInputError, match="must have 2 intercepts and slopes. Got 1 and 2"):
        PRCurve(
            breakpoints=np.ones(1),
            intercepts=np.ones(1),
            slopes=np.ones(2),
            max_precision=1.0,
            max_recall=1.0,
        )


def test_results_cannot_be_changed():
    profile = RatioProfile.from_masses([0.5, 0.5], [0.6, 0.4])
    with pytest.raises(ValueError, match="read-only"):
        profile.p[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        profile.curve().slopes[0] = 1.0
    with pytest.raises(AttributeError):
        profile.p = np.ones(1)


def test_what_users_pass_is_left_alone():
    p, q = np.array([0.5, 0.5]), np.array([0.6, 0.4])
    RatioProfile.from_masses(p, q)
    RatioProfile(p, q)
    p[0] = 0.25
    real = np.array([1.0, 2.0])
    held_out = HeldOutLogRatios(real=real, generated=real)
    real[0] = 3.0
    assert held_out.real[0] == 1.0


def test_masses_must_be_close_to_one():
    with pytest.raises(InvalidInputError, match="must sum to 1"):
        RatioProfile.from_masses([0.5, 0.50001], [0.5, 0.5])


def test_single_precision_masses_are_accepted():
    p = np.random.default_rng(0).dirichlet(np.ones(1000)).astype(np.float32)
    assert RatioProfile.from_masses(p, p[::-1]).curve().precision(np.inf) == 1.0


def test_scalars_give_floats_and_arrays_give_arrays():
    assert type(CURVE.precision(1.0)) is float
    assert type(CURVE.recall(np.float64(2))) is float
    assert CURVE.precision([[1.0, 2.0]]).shape == (1, 2)
    assert CURVE.precision_at_recall(np.array([0.1, 0.9])).shape == (2,)


def test_curve_of_infinite_ends_survives_json():
    wrong = HeldOutLogRatios(real=[1.0, -np.inf], generated=[np.inf, 0.0]).curve()
    again = PRCurve.from_json(wrong.to_json())
    assert (again.max_precision, again.max_recall) == (np.inf, np.inf)


def test_a_clipped_curve_has_no_roc_curve():
    with pytest.raises(UndefinedError, match=r"Call roc\(\) of the curve as counted"):
        CLIPPED.roc()
    assert 0.0 <= HELD_OUT.curve().roc().area <= 1.0
