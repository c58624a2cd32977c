/** Opens task sources, and gives those that make tasks from others the sources they make them from. */
import type { GenerateConfig, TaskConfig } from "../../core/config/resolved.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";
import { create } from "../../core/create.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { GeneratedTasks } from "../../methods/generation/generatedTasks.ts";
import type { CreateContext } from "../../core/declaration.ts";

interface Opened {
  readonly config: TaskConfig;
  readonly source: TaskSource;
}

/**
 * The source that stages share under a name: the one that was made under it, or a new one.
 * @param name of all that its tasks depend on, but when rounds are and what children must pass
 */
export type Sharing = (name: string, make: () => GeneratedTasks) => GeneratedTasks;

/** @returns the sources in the order of the config */
export function openAll(
  tasks: readonly TaskConfig[],
  open: (config: TaskConfig) => TaskSource,
  context: CreateContext,
  sharing?: Sharing,
): Opened[] {
  const written = new Map(
    tasks.filter(({ generate }) => generate === undefined).map((config) => [config.name, open(config)]),
  );
  return tasks.map((config) => ({
    config,
    source:
      config.generate === undefined
        ? written.get(config.name)!
        : making(config.name, config.generate, written, context, sharing, tasks),
  }));
}

/** What generated tasks depend on: stages that differ in it share nothing. */
function likenessOf(
  name: string,
  { from, selector, transform, author, keep, depth }: GenerateConfig,
  tasks: readonly TaskConfig[],
): readonly [string, unknown, readonly (readonly [string, TaskConfig["source"]])[]] {
  return [
    name,
    { from, selector, transform, author, keep, depth },
    tasks.flatMap((task) => (task.generate === undefined ? [[task.name, task.source] as const] : [])),
  ];
}

/** The tasks that are generated in the run, with what sharing them depends on. */
export const madeTasks = (
  tasks: readonly TaskConfig[],
): { readonly name: string; readonly likeness: ReturnType<typeof likenessOf> }[] =>
  tasks.flatMap(({ name, generate }) =>
    generate === undefined ? [] : [{ name, likeness: likenessOf(name, generate, tasks) }],
  );

function making(
  name: string,
  generate: GenerateConfig,
  written: ReadonlyMap<string, TaskSource>,
  context: CreateContext,
  sharing: Sharing | undefined,
  tasks: readonly TaskConfig[],
): TaskSource {
  const names = generate.from ?? [...written.keys()];
  const make = (): GeneratedTasks =>
    new GeneratedTasks({
      name,
      shared: sharing !== undefined,
      from: names.flatMap((one) => written.get(one) ?? []),
      selector: create(generate.selector, context),
      transform: create(generate.transform, context),
      byProgram: generate.author.declaration.name === "program",
      keep: generate.keep,
      depth: generate.depth,
    });
  return sharing === undefined ? make() : sharing(fingerprint(likenessOf(name, generate, tasks)), make);
}
