/** The models that a config names: whether a run of it can open them. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import type { ChatLook } from "../../core/config/modelFacts.ts";
import { templateText } from "../../engine/tokenizers/templateProbe.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";
import type { Check } from "./checks.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** What is found out about a model by itself: a folder with its files, or a `.gguf` file. */
export function checkModel(path: string): Check[] {
  const look = modelFacts.look(resolve(path));
  if (look.kind === "unfit")
    return [
      {
        name: "model",
        status: "missing",
        detail: look.problem,
        fix: "name a model's folder or a .gguf file",
      },
    ];
  return [
    { name: "model", status: "ok", detail: `${path}, a context of ${look.context} tokens` },
    { name: "chat template", status: "ok", detail: chatDetail(look.chat) },
  ];
}
const chatDetail = (chat: ChatLook | undefined): string =>
  chat === undefined ? "none: prompts are plain text" : templateText(chat).join(" ");

/** Whether a path names a model and no config. */
export const isModel = (path: string): boolean =>
  path.endsWith(".gguf") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** None for a config that names no stored model, or that cannot be read: the check of its memory says so. */
export function checkModels(file: string): Check[] {
  const { config } = loadFile(resolve(file));
  if (config === undefined) return [];
  const named = [
    { key: "model.base", base: config.model.base },
    ...config.models.flatMap((one) =>
      one.kind === "opened" ? [{ key: `models.${one.name}.base`, base: one.model.base }] : [],
    ),
  ];
  return named
    .filter(({ base }) => base !== "tiny" && existsSync(base))
    .map(({ key, base }): Check => {
      const look = modelFacts.look(base);
      const path = relativePath(process.cwd(), base);
      if (look.kind === "fit")
        return { name: "model", status: "ok", detail: `${path}, a context of ${look.context} tokens` };
      return {
        name: "model",
        status: "missing",
        detail: `${key}: ${look.problem}`,
        fix: `gradus validate ${copiedWord(file)}`,
      };
    });
}
