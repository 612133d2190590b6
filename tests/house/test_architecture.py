"""Who may import whom: each layer knows those below it, and no family the private modules of another."""

import pytest

from bench.architecture import LAYERS, imports, layer_of, modules

MODULES = modules()


def test_every_module_has_a_layer():
    assert {layer_of(name) for name in MODULES} <= set(LAYERS)
    assert "spectralcls._model.expansion" in MODULES and "spectralcls.kernel_mean._parzen" in MODULES


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_from_its_own_layer_or_below(name):
    order = list(LAYERS)
    above = [
        target for target in imports(name)
        if order.index(layer_of(target)) > order.index(layer_of(name))
    ]
    assert not above, f"{name} imports {above} from a layer above its own"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_module_imports_a_private_module_of_another_family(name):
    family = name.split(".")[1] if name.count(".") else name
    foreign = []
    for target in imports(name):
        parts = target.split(".")[1:]
        private = any(part.startswith("_") for part in parts[1:])
        if private and parts[0] != family and not parts[0].startswith("_"):
            foreign.append(target)
    assert not foreign, f"{name} reaches into {foreign}"


def test_the_walk_of_the_imports_sees_what_is_there():
    assert "spectralcls._model.class_means" in imports("spectralcls._model")
    assert "spectralcls.kernels" in imports("spectralcls._model.points")
    assert "spectralcls._estimator.base" in imports("spectralcls._estimator")
