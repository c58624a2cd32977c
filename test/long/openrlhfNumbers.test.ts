/**
 * What an export makes of a config trains what Gradus means by it: advantages, loss and gradients of recorded rollouts by
 * `gradus explain`, and by OpenRLHF's own functions with the flags of launch.sh. Wants what `openrlhfProject.test.ts` wants.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { z } from "zod";
import { inProject } from "../../server/frameworks/trainers/openrlhf/project/launchText.ts";
import { openRlhfPlan } from "../../server/frameworks/trainers/openrlhf/lens/plan.ts";
import { gradus } from "../support/cli.ts";
import { openRlhfConfigs } from "../support/openRlhfConfigs.ts";
import { openRlhfPython, python, upToVllm, wordsOf } from "../support/openRlhfPython.ts";
import { recordedStep, type Recorded } from "../support/openRlhfRollouts.ts";
import { configOf, temporary } from "../unit/support.ts";

/** OpenRLHF's way from rewards to a loss, as its experience maker and its actor's trainer go it. */
const theirs = `${upToVllm}
import torch
from types import SimpleNamespace
from openrlhf.models.loss import PolicyLoss, aggregate_loss
from openrlhf.models.utils import compute_approx_kl
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from openrlhf.trainer.ppo_utils.kl_controller import FixedKLController

def row(values):
    return torch.tensor([values], dtype=torch.float64)

def padded(rows, name):
    most = max(len(one["tokens"]) for one in rows)
    return torch.tensor([one[name] + [0.0] * (most - len(one[name])) for one in rows], dtype=torch.float64)

def advantages(args, rows):
    algo = args.algo
    maker = RemoteExperienceMaker.__new__(RemoteExperienceMaker)
    maker.args, maker.strategy = args, SimpleNamespace(args=args)
    maker.advantage_estimator, maker.kl_ctl = algo.advantage.estimator, FixedKLController(algo.kl.init_coef)
    made = []
    for at, one in enumerate(rows):
        old, ref = row(one["logp_old"]), row(one["logp_ref"])
        charged = algo.kl.init_coef > 0 and not algo.kl.use_loss
        kl = compute_approx_kl(old, ref, kl_estimator=algo.kl.estimator) if charged else torch.zeros_like(old)
        made.append(Experience(
            action_mask=torch.ones_like(old, dtype=torch.long), kl=kl.double(), values=row(one["values"]),
            rewards=torch.tensor([one["reward"]], dtype=torch.float64), index=[at], info={},
        ))
    return [one.advantages[0].tolist() for one in maker.compute_advantages_and_returns(made)]

def loss(args, rows, found):
    actor, algo = args.actor, args.algo
    correction = algo.advantage
    policy = PolicyLoss(
        clip_eps_low=actor.eps_clip_low_high[0], clip_eps_high=actor.eps_clip_low_high[1], dual_clip=actor.dual_clip,
        token_level_loss=actor.loss_agg_mode == "token-mean", policy_loss_type=actor.policy_loss_type,
        is_correction_level=correction.is_correction_level, is_correction_mode=correction.is_correction_mode,
        is_correction_gating=correction.is_correction_gating, is_correction_threshold=correction.is_correction_threshold,
    )
    mask = padded([{**one, "ones": [1.0] * len(one["tokens"])} for one in rows], "ones")
    given = padded([{**one, "advantages": own} for one, own in zip(rows, found)], "advantages")
    now = padded(rows, "logp_new").requires_grad_()
    old, sampled, ref = (padded(rows, "logp_" + name) for name in ("old", "sampled", "ref"))
    info = {"dp_size": 1, "batch_num_tokens": mask.sum(), "global_batch_size": len(rows)}
    total = policy(now, old, given, action_mask=mask, rollout_log_probs=sampled, **info)[0]
    if algo.kl.use_loss and algo.kl.init_coef > 0:
        kl = compute_approx_kl(now, ref, old, algo.kl.estimator, algo.kl.unbiased_gradient)
        total = total + algo.kl.init_coef * aggregate_loss(kl, mask, **info)
    if actor.entropy_coef is not None:
        total = total - actor.entropy_coef * aggregate_loss(padded(rows, "entropy"), mask, **info)
    total.backward()
    gradients = [own[: len(one["tokens"])].tolist() for own, one in zip(now.grad, rows)]
    return total.item(), gradients

found = {}
for name, asked in json.load(sys.stdin).items():
    sys.argv = ["train_ppo_ray", *asked["words"]]
    try:
        runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__", alter_sys=True)
    except Stop as stopped:
        args = stopped.args[0]
        own = advantages(args, asked["rows"])
        total, gradients = loss(args, asked["rows"], own)
        found[name] = {"advantages": own, "loss": total, "gradients": gradients}
print("\\nfound " + json.dumps(found))
`;

const ragged = z.array(z.array(z.number()));
const foundSchema = z.record(
  z.string(),
  z.object({ advantages: ragged, loss: z.number(), gradients: ragged }),
);

/** More of what a config may say, beside those that are exported elsewhere. */
const whiten = "{ over: tokens, population: true, epsilon: 1.0e-8, inside: floor }";
const more: Readonly<Record<string, string>> = {
  responses: `advantage: { baseline: none, scale: none, whiten: ${whiten} }`,
  tokens: `advantage: { baseline: none, scale: none, level: token, gamma: 0.9, whiten: ${whiten} }
kl: [{ model: reference, estimator: { use: k2, clamp: 10 }, place: reward, coefficient: 0.2 }]`,
  centred:
    "advantage: { baseline: group_mean, scale: none, whiten: { over: tokens, population: true, scale: false } }\nobjective: { use: clipped, aggregate: { use: sequence_mean, empty_rows: skip }, correction: [{ use: mask, low: 0.8, high: 1.5 }] }",
  charged: `advantage: { baseline: leave_one_out, scale: none, penalty: apart, clip: { low: -0.3, high: 0.4 } }
kl: [{ model: reference, estimator: { use: k3, clamp: 10, clamp_log_ratio: { low: -10 } }, place: reward, coefficient: 0.1 }]`,
  unbiased: `advantage: { baseline: group_mean, scale: none }
objective: { use: clipped, aggregate: token_mean, dual: 1.5 }
update: { epochs: 2 }
kl: [{ model: reference, estimator: { use: k1, clamp: 10, straight_through: true }, coefficient: 0.3, importance_weighted: { of: gradient, detached: true, cap: 10 } }]`,
};

const rest = `
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [3, 4] }]
reward: { terms: { correct: equation } }
rollout: { prompts: 8, group: 4, max_tokens: 20 }
steps: 3
`;

const near = (one: number, other: number): boolean => Math.abs(one - other) <= 2e-5 * (1 + Math.abs(other));

function assertNear(
  found: readonly (readonly number[])[],
  wanted: readonly (readonly number[])[],
  what: string,
): void {
  for (const [row, values] of wanted.entries())
    for (const [at, value] of values.entries())
      assert.ok(near(found[row]![at]!, value), `${what} of ${row}, ${at}: ${found[row]![at]} for ${value}`);
}

const configs: Readonly<Record<string, string>> = {
  ...openRlhfConfigs,
  ...Object.fromEntries(Object.entries(more).map(([name, text]) => [name, `name: ${name}\n${text}${rest}`])),
};

interface Asked {
  readonly words: readonly string[];
  readonly rows: readonly Recorded[];
}

/** The flags of a config's export, and a step of rollouts for it. */
function askedOf(text: string, folder: string): Asked {
  const { settings, stage, missing } = openRlhfPlan(configOf(text, folder));
  assert.deepEqual(
    missing.filter(({ changes }) => changes === "algorithm"),
    [],
  );
  const { prompts, group } = stage.body.rollout;
  const words = wordsOf({
    "actor.model_name_or_path": inProject("model"),
    "data.prompt_dataset": inProject("train.parquet"),
    "train.agent_func_path": inProject("agent.py"),
    ...settings,
  });
  return { words, rows: recordedStep([prompts, group]) };
}

interface Explained {
  readonly rollouts: readonly { readonly advantages: number[]; readonly grad_logp: number[] }[];
  readonly loss: number;
}

async function explained(name: string, rows: readonly Recorded[], folder: string): Promise<Explained> {
  const lines = rows.map((row) => JSON.stringify({ step: 1, prompt: "p", response: "r", ...row }));
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join("\n")}\n`);
  writeFileSync(join(folder, `${name}.gradus.yaml`), configs[name]!);
  const { code, stdout, stderr } = await gradus(
    ["explain", `${name}.gradus.yaml`, "--rollouts", `${name}.jsonl`, "--json"],
    folder,
  );
  assert.equal(code, 0, stderr);
  const found = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return {
    rollouts: found.filter(({ type }) => type === "rollout"),
    loss: found.find(({ type }) => type === "summary").loss,
  };
}

describe("numbers of an export for OpenRLHF", openRlhfPython, () => {
  const folder = temporary();
  const asked: Record<string, Asked> = {};
  let theirNumbers: z.output<typeof foundSchema> = {};
  before(() => {
    for (const [name, text] of Object.entries(configs)) asked[name] = askedOf(text, folder);
    const { status, stdout, stderr } = spawnSync(python, ["-c", theirs], {
      encoding: "utf8",
      input: JSON.stringify(asked),
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stderr.slice(-3000));
    theirNumbers = foundSchema.parse(JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? ""));
  });

  for (const name of Object.keys(configs))
    it(`are those of Gradus, of ${name}`, async () => {
      const { rollouts, loss } = await explained(name, asked[name]!.rows, folder);
      const found = theirNumbers[name]!;
      const column = (key: "advantages" | "grad_logp"): number[][] => rollouts.map((one) => one[key]);
      assertNear(column("advantages"), found.advantages, "advantage");
      assertNear(column("grad_logp"), found.gradients, "gradient");
      assert.ok(near(loss, found.loss), `${loss} for ${found.loss}`);
    });
});
