"""Training of uncertainty methods: our loop against a plain torch loop of the same model.

Both train the same network on the same images in the same run, in turn, with the same AdamW,
clipping, precision and batch; the plain loop has neither augmentation nor the hooks of methods.
Then the time of an epoch and of predicting 500 images of each method, relative to the baseline.
On a CPU it runs with tiny networks, on a GPU with ResNet-18 and ViT-tiny at 64 px.
"""

import time

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks._clock import heading
from equipoise.uq.training.data import Recipe, demo_images
from equipoise.uq.training.loop import Trainer
from equipoise.uq.training.methods import METHODS, quick
from equipoise.uq.training.networks import architecture_of
from equipoise.uq.training.resident import DeviceData, require_device, seeded

ROUNDS = 5


def sizes(device):
    """Images, architectures, and whether methods are made small."""
    if device.type == "cuda":
        return demo_images(5000, size=64), ("resnet18", "vit_tiny"), False
    return demo_images(900), ("resnet_demo", "vit_demo"), True


def built(method, architecture, data):
    """A new model."""
    with seeded(data.device, 0):
        model = method.build(lambda: architecture.network(data.shape), data.classes)
    return model.to(data.device, memory_format=data.memory_format).train()


def settled(data):
    """Wait for the device."""
    if data.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def plain_epoch(model, optimiser, data, recipe):
    """What anybody would write."""
    images, labels, known = data.train
    order = torch.randperm(len(labels), device=data.device)
    for rows in order.split(recipe.batch):
        if len(rows) < recipe.batch:
            break
        inputs = data.inputs(images[rows])
        optimiser.zero_grad(set_to_none=True)
        with data.autocast():
            logits = model(inputs)
            loss = binary_cross_entropy_with_logits(logits, labels[rows], known[rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()


def optimiser_of(model, data, recipe):
    """The optimiser of both loops."""
    fused = data.device.type == "cuda"
    how = {"lr": recipe.lr, "weight_decay": recipe.weight_decay, "fused": fused}
    return torch.optim.AdamW(model.parameters(), **how)


def epoch_time(method, architecture, data, recipe):
    """Shortest of a few epochs of our loop."""
    model = built(method, architecture, data)
    optimiser = optimiser_of(model, data, recipe)
    trainer = Trainer(method=method, recipe=recipe, seed=0)
    taken = []
    for epoch in range(ROUNDS):
        start = settled(data)
        trainer._epoch(model, data, optimiser, (epoch, ROUNDS, method.training))
        taken.append(settled(data) - start)
    return model, min(taken)


def against_plain(architecture, data, recipe):
    """Images per second of both loops, in turn; best of a few."""
    method, taken = METHODS["baseline"], {"ours": [], "plain": []}
    models = {name: built(method, architecture, data) for name in taken}
    optimisers = {name: optimiser_of(one, data, recipe) for name, one in models.items()}
    trainer = Trainer(method=method, recipe=recipe, seed=0)
    for epoch in range(ROUNDS + 1):
        start = settled(data)
        plain_epoch(models["plain"], optimisers["plain"], data, recipe)
        middle = settled(data)
        when = (epoch, ROUNDS + 1, method.training)
        trainer._epoch(models["ours"], data, optimisers["ours"], when)
        taken["plain"].append(middle - start)
        taken["ours"].append(settled(data) - middle)
    size = recipe.batch
    many = len(data.train.labels) // size * size
    return {name: many / min(seconds[1:]) for name, seconds in taken.items()}


def overheads(architecture, data, recipe, *, small):
    """Print what an epoch and a prediction of each method cost relative to the baseline."""
    base = None
    pictures = data.train.images[:500]
    for name, chosen in METHODS.items():
        if chosen.transformer_only and not architecture.transformer:
            continue
        method = quick(chosen) if small else chosen
        model, epoch = epoch_time(method, architecture, data, recipe)
        model.eval()
        with seeded(data.device, 0):
            method.settle(model, data)
            start = settled(data)
            method.predict(model, pictures, data)
            told = (epoch, settled(data) - start)
        base = base or told
        print(
            f"   {name}: epoch {told[0]:.3g} s ({told[0] / base[0]:.2f} of the baseline), "
            f"predicting {len(pictures)} images {told[1]:.3g} s ({told[1] / base[1]:.2f})"
        )


def main():
    device = require_device("auto")
    images, names, small = sizes(device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    data = DeviceData(images, Recipe(), str(device))
    recipe = Recipe(batch=64 if small else 128)
    heading(f"training of uncertainty methods, torch {torch.__version__} on {device}")
    for name in names:
        speed = against_plain(architecture_of(name), data, recipe)
        ratio = speed["ours"] / speed["plain"]
        print(
            f"   {name}: {speed['ours']:,.0f} images/s, plain loop {speed['plain']:,.0f}, "
            f"{np.round(ratio, 3)} of it (goal at least 0.95)"
        )
        overheads(architecture_of(name), data, recipe, small=small)


if __name__ == "__main__":
    main()
