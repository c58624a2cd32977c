/** What keeps programs that models write on this machine. */
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { wallOf } from "../../lib/sandbox/wall/wall.ts";
import { wallsText } from "../../run/loop/sandboxNotes.ts";
import type { Check } from "./checks.ts";

const name = "sandbox";

/** @param file a config, whose own walls are asked for; without one, those that this machine has */
export async function checkSandbox(file: string | undefined): Promise<Check> {
  const config = file === undefined ? undefined : loadFile(resolve(file)).config;
  try {
    const { names } = await wallOf(config?.top.sandbox ?? "auto");
    const detail = `programs that models write are kept in by ${wallsText(names)}`;
    if (names.length > 2) return { name, status: "ok", detail };
    const fix = "write `sandbox: { by: docker }`, podman or bwrap in the config, where one is installed";
    return { name, status: "optional", detail, fix };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { name, status: "missing", detail: error.message, fix: error.detail.action ?? "" };
  }
}
