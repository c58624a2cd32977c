/** Trainers whose configurations are converted, and neither checked nor completed: by keys and programs of their own. */
import type { TrainerThat } from "../../../shared/run/trainers.ts";
import type { Form } from "../text/document.ts";
import { parseConfig } from "./index.ts";
import type { ParsedConfig } from "./parsedConfig.ts";

const onlyConverted = ["skyrl"] as const satisfies readonly TrainerThat<"converted">[];
type OnlyConverted = (typeof onlyConverted)[number];

interface Signs {
  /** What a script that starts it names. */
  readonly program: RegExp;
  /** Whether dotted keys are its own. */
  readonly isOwn: (keys: readonly string[]) => boolean;
}

const below = (keys: readonly string[], section: string): boolean =>
  keys.some((key) => key.startsWith(`${section}.`));

const signs: Readonly<Record<OnlyConverted, Signs>> = {
  skyrl: {
    program: /\bskyrl(?:_train)?(?:\.\w+)*\.entrypoints\.\w+/,
    isOwn: (keys) =>
      below(keys, "generator") &&
      ["trainer.algorithm", "trainer.policy", "trainer.placement"].some((section) => below(keys, section)) &&
      !below(keys, "actor_rollout_ref"),
  },
};

export const isOnlyConverted = (name: string | undefined): name is OnlyConverted =>
  onlyConverted.some((one) => one === name);

/** @param asked the trainer, if the text does not show it */
export function parseOnlyConverted(
  file: string,
  text: string,
  asked: string | undefined,
): { readonly framework: OnlyConverted; readonly parsed: ParsedConfig } | undefined {
  for (const framework of onlyConverted) {
    if (asked !== undefined && asked !== framework) continue;
    const { program, isOwn } = signs[framework];
    let found = false;
    const owns = (keys: readonly string[], form: Form): boolean =>
      asked === framework || (isOwn(keys) && (form !== "script" || program.test(text)));
    // Sections, and words `key=value`, are read as verl's are.
    const parsed = parseConfig(file, text, (keys, form) => {
      if (!owns(keys, form)) return undefined;
      found = true;
      return "verl";
    });
    const isTheirs = parsed?.framework === "verl" && parsed.program === undefined;
    // Nothing of verl's own files stands below them.
    if (found && isTheirs) return { framework, parsed: { ...parsed, base: new Map(), missing: undefined } };
  }
  return undefined;
}
