/** OpenRLHF's flags, from the calls of `add_argument` in its programs that train. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argumentsOf } from "../../text/python/classes.ts";
import type { KeyFacts, KeyFact, Release } from "../tables/table.ts";
import { factOfArgument } from "./flags.ts";

/** @param root the folder that holds the package `openrlhf` */
export function openrlhfFacts(root: string): Release | undefined {
  const folder = join(root, "openrlhf/cli");
  if (!existsSync(join(folder, "train_ppo_ray.py"))) return undefined;
  const programs = readdirSync(folder).flatMap((name) => /^(train_\w+)\.py$/.exec(name)?.[1] ?? []);
  return Object.fromEntries(programs.map((name) => [name, factsOfProgram(join(folder, `${name}.py`))]));
}

function factsOfProgram(file: string): KeyFacts {
  const facts: Record<string, KeyFact> = {};
  for (const argument of argumentsOf(readFileSync(file, "utf8")))
    for (const name of argument.names) facts[name] = factOfArgument(argument);
  return facts;
}
