/** The service in a project for verl: where it can draw, the settings that ask it, and what it does not reach. */
import { contextOf } from "../../../../algorithm/algorithm.ts";
import { openSources } from "../../../../algorithm/curriculum/openSources.ts";
import { noModels } from "../../../../analysis/rescore/noModels.ts";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { TaskSource } from "../../../../core/slots/tasks.ts";
import { randomStream } from "../../../../lib/random.ts";
import { flat } from "../../../text/values.ts";
import { shown } from "../../../lens/exportDraft.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { serviceOf, type ProjectService } from "../../../carried/service/served.ts";
import { actor, inProject } from "../lens/keys.ts";

/** Choices that verl alone has no counterpart for, and the service has. */
const draws: ReadonlySet<string> = new Set(["curriculum.admission", "curriculum.sampler"]);

const line = (keys: string): string =>
  `verl's training loop starts service/, which does ${keys}. Without Node, GRADUS_SERVICE=off trains on train.parquet: prompts in the order of the first probabilities, no group rejected by a curriculum, and no reward that it would score.`;

/** The rows of a step are fetched and its groups are reported in one process, one step after the other: what changes that leaves it out. */
const against: Readonly<Record<string, (value: Json) => boolean>> = {
  "trainer.use_v1": (value) => value !== true,
  "trainer.v1.trainer_mode": (value) => value !== "sync",
  "trainer.v1.sync.parameter_sync_step": (value) => value !== 1,
  "trainer.v1.sampler.custom_sampler.path": (value) => value !== null,
  "data.custom_cls.path": (value) => value !== null,
  "data.dataloader_num_workers": (value) => value !== 0,
  "data.shuffle": (value) => value !== false,
};

/** verl's own settings where the service draws. */
export const serviceSettings: JsonObject = {
  "data.custom_cls.path": inProject("curriculum.py"),
  "data.custom_cls.name": "DrawnTasks",
  "data.dataloader_num_workers": 0,
  "trainer.v1.sampler.custom_sampler.path": inProject("curriculum.py"),
  "trainer.v1.sampler.custom_sampler.name": "Observed",
  // verl gives these to its own replay buffer alone.
  "trainer.v1.sampler.sampler_kwargs.train_batch_size": "${data.train_batch_size}",
  "trainer.v1.sampler.sampler_kwargs.filter_groups": "${algorithm.filter_groups}",
  "trainer.v1.sampler.sampler_kwargs.sync_refill_failed_groups":
    "${trainer.v1.sampler.sync_refill_failed_groups}",
};

export interface VerlService {
  /** undefined: nothing needs it, or verl is told to train in a way in which it cannot draw. */
  readonly service: ProjectService | undefined;
  /** Of the whole project. */
  readonly missing: readonly Missing[];
  /** Whether it scores terms. */
  readonly scores: boolean;
}

/** @param without what is missing without it */
export async function verlService(
  config: RunConfig,
  folder: string,
  without: readonly Missing[],
  settings: JsonObject,
): Promise<VerlService> {
  const args = flat(config.engine.args ?? {});
  const [odd] = [...args].filter(([key, value]) => against[key]?.(value) === true);
  const isWanted = without.some(({ key }) => draws.has(key));
  if (odd !== undefined)
    return { service: undefined, missing: [...without, ...(isWanted ? [leftOut(odd)] : [])], scores: false };
  const service = await serviceOf(config, folder, { without, draws, line });
  if (service === undefined) return { service, missing: without, scores: false };
  const filters = settings["algorithm.filter_groups.enable"] === true;
  const rejected = filters ? undefined : without.find(({ key }) => key === "curriculum.admission");
  const means = String(settings[`${actor}.loss_agg_mode`]).startsWith("seq-mean");
  const left = new Set(service.missing.map(({ key }) => key));
  const scores = without.some(({ key }) => key.startsWith("reward.") && !left.has(key));
  const nodes = new Map(args).get("trainer.nnodes") ?? 1;
  return {
    service,
    // verl replaces the groups that its own filter rejects.
    missing: [
      ...service.missing.filter(({ key }) => !filters || key !== "curriculum.admission.refill"),
      ...(rejected !== undefined && means ? [{ ...rejected, reason: emptyPlaces }] : []),
      ...(scores && nodes !== 1 ? [farAway(nodes)] : []),
    ],
    scores,
  };
}

const emptyPlaces =
  "verl divides a mean over sequences by all places of an update: where rejected groups leave some empty, the others count less than in the config's own mean.";

const leftOut = ([key, value]: readonly [string, Json]): Missing => ({
  key: `engine.args.${key}`,
  value: shown(value),
  reason:
    "The service draws for verl's synchronous V1 trainer, with the dataset and the replay buffer of the project: with this it is left out.",
  changes: "nothing-trained",
});

const farAway = (nodes: Json): Missing => ({
  key: "engine.args.trainer.nnodes",
  value: shown(nodes),
  reason:
    "Reward workers of other machines do not reach the service, which listens on 127.0.0.1, and end the training: name a reward server that all reach in GRADUS_REWARD_URL.",
  changes: "nothing-trained",
});

/** manager.py, with what the service does. */
export const managerText = (text: string, { service, scores }: VerlService): string =>
  text
    .replace("\nSERVICE = False\n", `\nSERVICE = ${service === undefined ? "False" : "True"}\n`)
    .replace("\nSCORES = False\n", `\nSCORES = ${scores ? "True" : "False"}\n`);

/** Tasks of each arm's value that are looked at, where no file lists them. */
const tried = 256;

/** Bytes of the longest prompt that a curriculum may come to draw, as far as trying its sources shows. */
export function longestDrawn({ stages, seed }: RunConfig): number {
  const bodies = stages.filter(({ kind }) => kind === "rl").map(({ body }) => body);
  const random = randomStream(seed, "longest");
  const lengths = bodies.flatMap((body) => sourcesOf(body, seed).map((source) => longestOf(source, random)));
  return Math.max(0, ...lengths);
}

function sourcesOf(body: StageBody, seed: number): TaskSource[] {
  const context = contextOf(body, { random: randomStream(seed, "methods"), models: noModels });
  return openSources(body.tasks, context).map(({ source }) => source);
}

function longestOf(source: TaskSource, random: ReturnType<typeof randomStream>): number {
  let longest = 0;
  const see = (prompt: string): void => void (longest = Math.max(longest, Buffer.byteLength(prompt)));
  const listed = source.listed?.();
  if (listed !== undefined) for (const { task } of listed) see(task.prompt);
  else
    for (const value of source.values.length > 0 ? source.values : [undefined])
      for (let n = 0; n < tried; n++) {
        const task = source.draw("train", value, random);
        if (task === null) break;
        see(task.prompt);
      }
  return longest;
}
