/** The stage's objective, with further losses and that of a value head where the config has them: one update. */
import { valueAt, type Scheduled } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Clock } from "../../core/basics.ts";
import type { Channel, Weighed } from "../../core/policy.ts";
import type { Objective, RunningLoss, WholeInput } from "../../core/loss.ts";
import { create } from "../../core/create.ts";
import { onRoute } from "./routes.ts";
import { corrected, Share } from "./together.ts";
import type { Choice, CreateContext } from "../../core/declaration.ts";

const beginning: Clock = { step: 0, stageStep: 0 };
const units = ["sequence", "pair", "group"] as const;
const wider = (a: Objective["unit"], b: Objective["unit"]): Objective["unit"] =>
  units[Math.max(units.indexOf(a), units.indexOf(b))]!;
const union = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];
const appliesCorrection = ({ needs }: Objective): boolean => needs?.correction === true;

/** What several losses of one update ask for together. Each of them gets its own importance correction. */
function together(parts: readonly Objective[]): Omit<Objective, "loss" | "start"> {
  const needs = parts.flatMap((part) => part.needs ?? []);
  const redrawn = needs.find((one) => one.redrawn !== undefined)?.redrawn;
  const mismatched = needs.find((one) => one.mismatched !== undefined)?.mismatched;
  return {
    channels: union(parts.flatMap(({ channels }) => channels)),
    unit: parts.map(({ unit }) => unit).reduce(wider),
    models: union(parts.flatMap(({ models = [] }) => models)),
    needs: {
      before: union(needs.flatMap(({ before = [] }) => before)),
      normalizers: union(needs.flatMap(({ normalizers = [] }) => normalizers)),
      heads: union(needs.flatMap(({ heads = [] }) => heads)),
      ...(redrawn && { redrawn }),
      ...(mismatched !== undefined && { mismatched }),
      correction: true,
    },
  };
}

/** Gradients of both by channel, the second's times a coefficient. */
function summed(a: Weighed["gradients"], b: Weighed["gradients"], coefficient: number): Weighed["gradients"] {
  const sum: Partial<Record<Channel, Float64Array>> = { ...a };
  for (const [name, column] of Object.entries(b) as [Channel, Float64Array | undefined][]) {
    if (column === undefined) continue;
    const [known, both] = [sum[name], new Float64Array(column.length)];
    for (let t = 0; t < both.length; t++) both[t] = (known?.[t] ?? 0) + coefficient * column[t]!;
    sum[name] = both;
  }
  return sum;
}

/** An objective and the loss of a value head, in one update. */
export function withValue(
  main: Objective,
  value: Objective,
  coefficient: (clock: Clock) => number,
): Objective {
  const factorOf = ({ clock }: Pick<WholeInput, "clock">): number => coefficient(clock ?? beginning);
  const { start: startMain } = main;
  const { start: startValue } = value;
  return {
    ...together([main, value]),
    ...(startMain &&
      startValue && {
        start(whole) {
          const alone = value.channels.filter((channel) => !main.channels.includes(channel));
          const valueShare = new Share(startValue(whole), appliesCorrection(value), factorOf(whole), alone);
          return valueInParts(startMain(whole), appliesCorrection(main), valueShare);
        },
      }),
    loss(input) {
      const own = main.loss(appliesCorrection(main) ? input : corrected(input));
      const added = value.loss(input);
      const factor = factorOf(input);
      return {
        ...own,
        loss: own.loss + factor * added.loss,
        gradients: summed(own.gradients, added.gradients, factor),
        metrics: { ...own.metrics, "value/loss": added.loss, ...added.metrics },
      };
    },
  };
}

/** @param own writes its derivatives at once: it comes first */
const valueInParts = (own: RunningLoss, applies: boolean, valueShare: Share): RunningLoss => ({
  add: (part) => own.add(applies ? part : corrected(part)) + valueShare.add(part),
  result() {
    const { metrics, touched } = own.result();
    return {
      metrics: { ...metrics, "value/loss": valueShare.loss, ...valueShare.result().metrics },
      ...(touched && { touched }),
    };
  },
});

/** Losses, taken in parts, of one update. Metrics and touched tokens of the first come last, and win. */
const sharesInParts = (shares: readonly Share[]): RunningLoss => ({
  add: (part) => shares.reduce((sum, share) => sum + share.add(part), 0),
  result: () =>
    shares.reduceRight<ReturnType<RunningLoss["result"]>>(
      (found, share) => {
        const { metrics, touched } = share.result();
        return { metrics: { ...found.metrics, ...metrics }, touched: { ...found.touched, ...touched } };
      },
      { metrics: {}, touched: {} },
    ),
});

/** Losses over the same rollouts, each times its factor. Metrics and touched tokens of the first come last, and win. */
export function mixed(parts: readonly { readonly loss: Objective; readonly factor: Scheduled }[]): Objective {
  return {
    ...together(parts.map(({ loss }) => loss)),
    ...(parts.every(({ loss }) => loss.start !== undefined) && {
      start(whole) {
        const clock = whole.clock ?? beginning;
        const taken = new Set<Channel>();
        const shares = parts.map(({ loss, factor }) => {
          const alone = loss.channels.filter((channel) => !taken.has(channel));
          for (const channel of alone) taken.add(channel);
          return new Share(loss.start!(whole), appliesCorrection(loss), valueAt(factor, clock), alone);
        });
        return sharesInParts(shares);
      },
    }),
    loss(input) {
      const { gradient: _, ...rest } = input;
      const clock = input.clock ?? beginning;
      return parts
        .map(({ loss, factor }) => {
          const own = loss.loss(appliesCorrection(loss) ? rest : corrected(rest));
          return { ...own, factor: valueAt(factor, clock) };
        })
        .reduceRight<Weighed>(
          (sum, { factor, ...own }) => ({
            loss: sum.loss + factor * own.loss,
            gradients: summed(sum.gradients, own.gradients, factor),
            metrics: { ...sum.metrics, ...own.metrics },
            touched: { ...sum.touched, ...own.touched },
          }),
          { loss: 0, gradients: {} },
        );
    },
  };
}

/** @param routed rollouts may have routes that lead past the objective */
export function objectiveOf(
  { loss, factor, also, value }: StageBody["objective"],
  context: CreateContext,
  routed = false,
): Objective {
  const made = (choice: Choice<"objective">, of: "policy" | "pair"): Objective =>
    routed ? onRoute(create(choice, context), of) : create(choice, context);
  const own = made(loss, "policy");
  const others = also.map((one) => ({ factor: one.factor, loss: made(one.loss, one.of) }));
  const main = also.length === 0 && factor === 1 ? own : mixed([{ loss: own, factor }, ...others]);
  return value === undefined
    ? main
    : withValue(main, create(value.loss, context), (clock) => valueAt(value.coefficient, clock));
}
