/** Opens task sources: those that make tasks of others' come to know the others. */
import type { CreateContext, GenerateConfig, TaskConfig } from "../config/resolved.ts";
import type { TaskSource } from "../seams.ts";
import { create } from "../algorithm/create.ts";
import { GeneratedTasks } from "./generatedTasks.ts";

interface Opened {
  readonly config: TaskConfig;
  readonly source: TaskSource;
}

/** @returns the sources in the order of the config */
export function openAll(
  tasks: readonly TaskConfig[],
  open: (config: TaskConfig) => TaskSource,
  context: CreateContext,
): Opened[] {
  const written = new Map(
    tasks.filter(({ generate }) => generate === undefined).map((config) => [config.name, open(config)]),
  );
  return tasks.map((config) => ({
    config,
    source:
      config.generate === undefined
        ? written.get(config.name)!
        : making(config.name, config.generate, written, context),
  }));
}

function making(
  name: string,
  generate: GenerateConfig,
  written: ReadonlyMap<string, TaskSource>,
  context: CreateContext,
): TaskSource {
  const names = generate.from ?? [...written.keys()];
  return new GeneratedTasks({
    name,
    from: names.flatMap((one) => written.get(one) ?? []),
    selector: create(generate.selector, context),
    transform: create(generate.transform, context),
    byProgram: generate.author.declaration.name === "program",
    keep: generate.keep,
    depth: generate.depth,
  });
}
