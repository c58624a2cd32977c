/**
 * What the names of learning-rate schedules say. t: optimiser step; w: steps of the warm-up, over which every schedule but
 * `constant` rises from 0; T: all steps. After `optimization.py` of transformers, `torch_functional.py` of verl and
 * `optimizer_param_scheduler.py` of Megatron.
 */
const words: Readonly<Record<string, string>> = {
  constant: "`lr` from the first step to the last. No warm-up, except in verl.",
  constant_with_warmup: "lr · t / w during the warm-up, then `lr` to the end.",
  linear: "lr · (T − t) / (T − w) after the warm-up: falls to 0 at the last step.",
  cosine:
    "lr · ½ (1 + cos(π (t − w) / (T − w))) after the warm-up: falls to 0, or to the minimum that its options set.",
  cosine_with_restarts: "A cosine to 0 that restarts at `lr`, `num_cycles` times (1 by default).",
  polynomial:
    "lr_end + (lr − lr_end) · ((T − t) / (T − w))^power after the warm-up; `lr_end` is 1e-7 and `power` 1 by default.",
  inverse_sqrt:
    "lr · √(τ / (t − w + τ)) after the warm-up; the time scale τ is `timescale`, else w, else 10,000 steps. Never reaches 0.",
  inverse_square_root: "lr · √(w / t) after the warm-up: never reaches 0.",
  reduce_lr_on_plateau:
    "`lr` times `factor` whenever the metric of evaluations stops improving for `patience` of them: needs an evaluation.",
  cosine_with_min_lr:
    "A cosine after the warm-up that ends at `min_lr`, or at `min_lr_rate` · lr, instead of at 0. OpenRLHF ends it at a tenth of `lr`.",
  cosine_warmup_with_min_lr:
    "As `cosine_with_min_lr`, with a warm-up that may begin at `warmup_lr_rate` · lr instead of at 0.",
  warmup_stable_decay:
    "Warm-up, then `lr` for most of the steps, then a fall over the last `num_decay_steps`, a cosine unless `decay_type` names another form.",
  WSD: "Warm-up, then `lr` for most of the steps, then a fall over the last `lr_wsd_decay_steps`.",
  greedy:
    "Raises the rate (by 1 / `factor`) while the training metric improves, and lowers it (by `factor`) if it does not.",
};

const schedules = /(?:^|\.)(?:lr_scheduler(?:_type)?|lr_decay_style)$/;

/** Explains the value of a key that names a schedule. */
export const scheduleText = (key: string, value: unknown): string | undefined =>
  schedules.test(key) && typeof value === "string" && Object.hasOwn(words, value) ? words[value] : undefined;
