import { readText } from "../../../lib/inputFile.ts";
import { resolve } from "node:path";
import { z } from "zod";
import { UserError, messageOf, readFailure } from "../../../../shared/lib/errors.ts";
import { estimator, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import { gamma, normal, normalCumulative, normalDensity } from "../../../lib/distributions.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Estimator } from "../../../core/slots/curriculum.ts";
import { gaussianProcess, quadratic, type MixtureModel, type Pilot } from "./mixtureModels.ts";

const pilotSchema = z.object({ weights: z.record(z.string(), z.number().min(0)), score: z.number() });

function readPilots(file: string): z.output<typeof pilotSchema>[] {
  let lines: string[];
  try {
    lines = readText(file).split("\n");
  } catch (error) {
    throw new UserError(`the pilot runs can't be read: ${readFailure(error)}`, {
      file,
      code: "pilots-missing",
      action: 'Write one pilot run a line: {"weights": {"<arm>": 0.5, …}, "score": 0.42}.',
    });
  }
  return lines.flatMap((text, line) => {
    if (text.trim() === "") return [];
    try {
      return [pilotSchema.parse(JSON.parse(text))];
    } catch (error) {
      throw new UserError(`not a pilot run: ${messageOf(error).split("\n")[0]}`, {
        file,
        line,
        code: "pilots-line",
        action: 'Write {"weights": {"<arm>": 0.5, …}, "score": 0.42} on each line.',
      });
    }
  });
}

/** The pilots' mixtures over these arms, in their order. @throws UserError for unknown arms */
function pilotsOf(file: string, arms: ArmSet): Pilot[] {
  const pilots = readPilots(file).map(({ weights, score }): Pilot => {
    const unknown = Object.keys(weights).find((name) => arms.find(name) < 0);
    if (unknown !== undefined)
      throw new UserError(`the pilot runs name an unknown arm: ${unknown}`, {
        file,
        code: "pilots-arm",
        action: `The arms are ${Array.from({ length: arms.size }, (_, arm) => arms.name(arm)).join(", ")}.`,
      });
    const shares = Array.from({ length: arms.size }, (_, arm) => weights[arms.name(arm)] ?? 0);
    const sum = shares.reduce((total, w) => total + w, 0);
    return { shares: shares.map((w) => (sum > 0 ? w / sum : 1 / shares.length)), score };
  });
  if (pilots.length >= 2) return pilots;
  throw new UserError("a surrogate needs at least two pilot runs", {
    file,
    code: "pilots-few",
    action: "Run more mixtures, and write each with its score on a line.",
  });
}

const normalised = (weights: readonly number[]): number[] => {
  const sum = weights.reduce((total, w) => total + w, 0);
  return weights.map((w) => w / sum);
};

/** Maximises a function over mixtures: the best of many random ones, then small random steps. */
export function bestMixture(
  size: number,
  worth: (shares: readonly number[]) => number,
  random: Random,
): number[] {
  const corners = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => Number(i === j)),
  );
  const spread = Array.from({ length: 4000 }, (_, i) => {
    const stream = random.fork("mixture", i);
    return normalised(Array.from({ length: size }, () => gamma(1, stream)));
  });
  let best = Array<number>(size).fill(1 / size);
  for (const shares of [...corners, ...spread]) if (worth(shares) > worth(best)) best = shares;
  for (let i = 0, step = 0.1; i < 4000; i++) {
    const stream = random.fork("step", i);
    const near = best.map((w) => Math.max(0, w + step * normal(stream)));
    if (near.every((w) => w === 0)) continue;
    const shares = normalised(near);
    if (worth(shares) > worth(best)) best = shares;
    else step = Math.max(1e-4, step * 0.995);
  }
  return best;
}

/** EI(w) = (μ − s*) Φ(z) + σ φ(z) with z = (μ − s*)/σ and s* the best score so far. */
const improvement = (model: MixtureModel, best: number, shares: readonly number[]): number => {
  const { mean, spread } = model(shares);
  if (spread === 0) return Math.max(0, mean - best);
  const z = (mean - best) / spread;
  return (mean - best) * normalCumulative(z) + spread * normalDensity(z);
};

type Options = Omit<z.output<typeof surrogateParams>, "pilots">;

export class Surrogate implements Estimator {
  private shares: readonly number[] = [];

  /** @param pilots over these arms, in their order */
  constructor(
    private readonly pilotRuns: (arms: ArmSet) => readonly Pilot[],
    private readonly options: Options,
  ) {}

  addArms(arms: ArmSet): void {
    if (this.shares.length === arms.size) return;
    const pilots = this.pilotRuns(arms);
    const { model: kind, maximise, ridge, scale, noise } = this.options;
    const model = kind === "quadratic" ? quadratic(pilots, ridge) : gaussianProcess(pilots, { scale, noise });
    const best = Math.max(...pilots.map(({ score }) => score));
    const worth = (shares: readonly number[]): number =>
      maximise === "score" ? model(shares).mean : improvement(model, best, shares);
    this.shares = bestMixture(arms.size, worth, randomStream("surrogate", arms.size));
  }
  observe(): void {
    // The estimates come from the pilots alone.
  }
  estimate(arm: number): number {
    return this.shares[arm] ?? Number.NaN;
  }
  save(): { readonly json: null } {
    return { json: null };
  }
  load(): void {
    // The pilots are read again.
  }
}

export const surrogateParams = z.object({
  pilots: param(
    refers({ to: "file", ends: [".jsonl"] }).optional(),
    'JSONL file, one pilot run a line: `{"weights": {"<arm>": 0.5, …}, "score": 0.42}`.',
  ),
  model: param(z.enum(["quadratic", "gaussian_process"]).default("quadratic"), "The model that is fitted."),
  maximise: param(
    z.enum(["score", "improvement"]).default("score"),
    "What the mixture maximises: the score itself, or the expected improvement, to choose the next pilot run.",
  ),
  ridge: param(z.number().positive().default(1e-6), "Of the quadratic: added to the normal equations."),
  scale: param(z.number().positive().default(0.3), "ℓ of the Gaussian process."),
  noise: param(z.number().positive().default(0.01), "Its noise, as a share of the scores' variance."),
});

export const surrogate = estimator({
  name: "surrogate",
  summary:
    "Fits the scores of pilot runs as a function of their mixtures of arms, and estimates the mixture with the best predicted score.",
  formula:
    "ŝ(w) = Σ b_i w_i + Σ c_ij w_i w_j by ridge regression, or a Gaussian process; Q = argmax_w ŝ(w) on the simplex, or of the expected improvement on the best pilot",
  sources: ["MoDoMoDo: Multi-Domain Data Mixtures for Multimodal LLM Reinforcement Learning"],
  status: "approximate",
  gives: ["mixtures"],
  failing: () => "even",
  params: surrogateParams,
  create: ({ pilots, ...options }, { folder }) => {
    if (pilots !== undefined)
      return new Surrogate((arms) => pilotsOf(resolve(folder, pilots), arms), options);
    throw new UserError("a surrogate needs the scores of pilot runs", {
      code: "pilots-missing",
      action: "Name their file: `estimator: { use: surrogate, pilots: pilots.jsonl }`.",
    });
  },
});
