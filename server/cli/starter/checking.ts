/** A starter's text as the rules see it. */
import { loadConfig } from "../../rules/load.ts";
import { untrainedPolicy } from "../../rules/models/untrainedPolicy.ts";
import type { Checked } from "./files.ts";

/** @param file where the text would be: what it names is looked for from there */
export const checking =
  (file: string) =>
  (text: string): Checked => {
    const { diagnostics } = loadConfig(file, { text });
    return {
      errors: diagnostics.filter(({ severity }) => severity === "error").length,
      isUntaught: diagnostics.some(({ rule }) => rule === untrainedPolicy.id),
    };
  };
