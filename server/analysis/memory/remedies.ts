/** What may be lowered in a config that needs too much memory. */
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Budget } from "../../engine/memory.ts";

/** What the config itself decides. */
export function fixedBudget({ stages }: RunConfig): Partial<Budget> {
  const written = stages.flatMap(({ body }) => body.update.micro_tokens ?? []);
  return written.length === 0 ? {} : { micro_tokens: Math.max(...written) };
}

/** One change of a config that lowers its memory. */
export interface Remedy {
  readonly key: string;
  readonly now: string | number;
  /** Values to try, the mildest first. */
  readonly values: readonly (string | number)[];
  with(value: string | number): RunConfig;
}
const halves = (from: number, least: number): number[] => {
  const found: number[] = [];
  for (let value = Math.floor(from / 2); value >= least; value = Math.floor(value / 2)) found.push(value);
  return found;
};
const everyStage = (
  config: RunConfig,
  change: (body: StageConfig["body"]) => StageConfig["body"],
): RunConfig => ({
  ...config,
  stages: config.stages.map((stage) => ({ ...stage, body: change(stage.body) })),
});

export function remedies(config: RunConfig): Remedy[] {
  const found: Remedy[] = [];
  const micro = fixedBudget(config).micro_tokens;
  if (micro !== undefined)
    found.push({
      key: "update.micro_tokens",
      now: micro,
      values: halves(micro, 64),
      with: (value) =>
        everyStage(config, (body) => ({ ...body, update: { ...body.update, micro_tokens: Number(value) } })),
    });
  const longest = Math.max(...config.stages.map(({ body }) => body.rollout.max_tokens));
  found.push({
    key: "rollout.max_tokens",
    now: longest,
    values: halves(longest, 16),
    with: (value) =>
      everyStage(config, (body) => ({
        ...body,
        rollout: { ...body.rollout, max_tokens: Math.min(body.rollout.max_tokens, Number(value)) },
      })),
  });
  found.push(...keptLess(config));
  if (config.model.base === "tiny") found.push(...smaller(config));
  return found;
}
/** Fewer rollouts of earlier steps: of replay and of the losses that remember some, the largest memory first. */
export function keptLess(config: RunConfig): Remedy[] {
  const losses = Math.max(0, ...config.stages.map(({ body }) => body.auxiliary.length));
  const memories = [replayed, ...Array.from({ length: losses }, (_, at) => remembered(at))];
  return memories
    .flatMap(({ key, of, at }): (Remedy & { readonly now: number })[] => {
      const most = Math.max(0, ...config.stages.map(({ body }) => of(body)));
      const less = (body: Body, value: number): Body => (of(body) > value ? at(body, value) : body);
      const apply = (value: string | number): RunConfig =>
        everyStage(config, (body) => less(body, Number(value)));
      return most === 0 ? [] : [{ key, now: most, values: halves(most, 64), with: apply }];
    })
    .sort((one, other) => other.now - one.now);
}

type Body = StageConfig["body"];
/** A number of rollouts that a stage remembers; 0: none. */
interface RolloutCapacity {
  readonly key: string;
  of(body: Body): number;
  at(body: Body, capacity: number): Body;
}
const replayed: RolloutCapacity = {
  key: "replay.capacity",
  of: ({ replay }) => Number(replay.source.params["capacity"] ?? 0),
  at: (body, capacity) => {
    const { source } = body.replay;
    return {
      ...body,
      replay: { ...body.replay, source: { ...source, params: { ...source.params, capacity } } },
    };
  },
};
const remembered = (index: number): RolloutCapacity => ({
  key: `auxiliary.${index}.capacity`,
  of: ({ auxiliary }) => {
    const { capacity, data } = auxiliary[index]?.loss.params ?? {};
    // Of an `sft`'s data only successes are remembered.
    return data === undefined || data === "successes" ? Number(capacity ?? 0) : 0;
  },
  at: (body, capacity) => ({
    ...body,
    auxiliary: body.auxiliary.map((one, i) =>
      i === index ? { ...one, loss: { ...one.loss, params: { ...one.loss.params, capacity } } } : one,
    ),
  }),
});
/** Sizes of a tiny model that keep what its heads ask of the width. */
function smaller(config: RunConfig): Remedy[] {
  const { size } = config.model;
  const sized = (more: Partial<typeof size>): RunConfig => ({
    ...config,
    model: { ...config.model, size: { ...size, ...more } },
  });
  return [
    {
      key: "model.layers",
      now: size.layers,
      values: halves(size.layers, 1),
      with: (value) => sized({ layers: Number(value) }),
    },
    {
      key: "model.width",
      now: size.width,
      values: halves(size.width / (2 * size.heads), 1).map((pairs) => pairs * 2 * size.heads),
      with: (value) => sized({ width: Number(value) }),
    },
  ];
}
