/** What works on Linux alone, by pattern: each was a fault on another system once. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Fault {
  readonly what: string;
  readonly pattern: RegExp;
  readonly example: string;
  /** Where else it is looked for than in what ships. */
  readonly alsoIn?: readonly string[];
  /** Files in which it is right. */
  readonly except: readonly string[];
}

const faults: readonly Fault[] = [
  {
    what: "a folder, or a file that was opened to be read, is flushed, which Windows refuses (EPERM)",
    pattern: /openSync\([^()]*"r"\)[\s\S]{0,400}?fsyncSync\(/,
    example: 'const descriptor = openSync(folder, "r");\nfsyncSync(descriptor);',
    except: ["server/lib/durable/flush.ts"],
  },
  {
    what: "a rename that does not wait for who reads what is there, which Windows refuses (EPERM)",
    pattern: /\brenameSync\(|\brename\(draft/,
    example: "renameSync(draft, path);",
    except: ["shared/lib/putInPlace.mjs"],
  },
  {
    what: "a program that on Windows opens a window of its own",
    pattern:
      /(?<![.#\w])(?:spawn|spawnSync|execFile|execFileSync)\((?![\s\S]{0,400}?(?:windowsHide|options))/,
    example: 'spawn("git", words, { cwd });',
    except: [
      // In a terminal, which it writes to.
      "server/cli/text/quietly.ts",
      // Not started there.
      "server/lib/harbor/dockerfile.ts",
      "server/lib/harbor/episode.ts",
      "server/lib/harbor/namespaces.ts",
      "server/lib/own/guard.ts",
      "shared/daemon/place.ts",
    ],
  },
  {
    what: "a Python by one name, which another system has not",
    pattern: /(?:spawn|spawnSync|execFile|execFileSync|run|onPath|asks)\("python3?"|\["python3"/,
    example: 'spawn("python3", words)',
    // In a Linux image; the names of each system.
    except: ["server/lib/harbor/dockerfile.ts", "server/lib/own/pythonNames.ts"],
  },
  {
    what: "npm or an editor as a program, which on Windows are scripts of a shell that nobody may start",
    pattern: /(?:spawn|execFile|exec|fork)\w*\(\s*["'`](?:npm|npx|pnpm|yarn|code)\b|\.(?:cmd|bat)["'`]/,
    example: 'spawn("npm", ["ci"])',
    alsoIn: ["scripts"],
    except: [],
  },
  {
    what: "a symbolic link, which Windows makes for administrators alone",
    pattern: /\bsymlink(?:Sync)?\(/,
    example: "symlinkSync(built, wanted);",
    alsoIn: ["scripts"],
    // The workbench of the tests is not for Windows; the others ask for the system first.
    except: ["scripts/setup/workbench.mjs"],
  },
  {
    what: "a process group, which Windows has not",
    pattern: /process\.kill\(-/,
    example: 'process.kill(-child.pid, "SIGKILL");',
    except: ["server/lib/harbor/namespaces.ts"],
  },
  {
    what: "a program of Windows by its bare name, which is looked for in the working folder first",
    pattern: /(?:spawn|execFile|outputOf)\w*\("(?:powershell|taskkill|cmd|tar)(?:\.exe)?"/,
    example: 'spawn("taskkill", words)',
    // Not started there.
    except: ["server/lib/harbor/episode.ts"],
  },
  {
    what: "a key or a comparison of Node's own real path, which keeps the letters that it is given (`c:\\G`, `C:\\g`)",
    pattern: /\brealpath(?:Sync)?\b/,
    example: "const key = realpathSync(store);",
    except: ["shared/lib/realPath.ts"],
  },
  {
    what: "a path as the system writes it, which may be written down with `\\`",
    pattern: /import [^;]*\brelative\b[^;]* from "node:path"|\.split\(sep\)|replaceAll\(sep/,
    example: 'import { relative } from "node:path";',
    except: ["shared/lib/slashes.ts"],
  },
  {
    what: "a path compared by its letters with a folder",
    pattern:
      /startsWith\((?:`\$\{[^`}]*(?:folder|root|store|home|local|dirname\(\w+\))\}(?:\$\{sep\}|\/)`|[^()]*\+ sep)\)/i,
    example: "path.startsWith(`${root}${sep}`)",
    // Files of a dataset are a list with `/`.
    except: ["server/lib/datasets/card.ts"],
  },
  {
    what: "a `file:` address read past the one place that knows how VS Code writes it (`file:///c%3A/…`)",
    pattern: /fileURLToPath\((?!import\.meta\.url|new URL\()/,
    example: "const file = fileURLToPath(uri);",
    except: ["shared/lib/fileAddress.ts"],
  },
  {
    what: "a hard link without another way, which exFAT does not know",
    pattern: /\blinkSync\(/,
    example: "linkSync(draft, path);",
    except: ["server/run/checkpoint/fork.ts"],
  },
  {
    what: "a process that works in the store, which Windows then does not remove",
    pattern: /\bcwd: [^,(\n]*\b(?:store|runFolder)\b/,
    example: "spawn(node, words, { cwd: wish.store });",
    except: [],
  },
  {
    what: "a socket of a temporary folder that may be too deep for it",
    pattern: /\.sock`|\.sock"/,
    example: "const socket = join(tmpdir(), `${key}.sock`);",
    except: ["shared/daemon/runtime.ts"],
  },
  {
    what: "a file that is closed some time after the call that ends its use: Windows removes neither it nor its folder until then",
    pattern: /then\(\(\) => closeSync\(/,
    example: "void thread.terminate().then(() => closeSync(file));",
    except: [],
  },
  {
    what: "the home folder as the system writes it, where a shell's text has it: `\\` is the shell's own",
    pattern: /HOME\b[^\n]*(?<!slashed\()homedir\(\)/,
    example: 'new Map([["HOME", computedWord(homedir())]])',
    except: [],
  },
  {
    what: "a path from home as the system joins it, where others of its kind have `/`",
    pattern: /join\("~"/,
    example: 'join("~", relativePath(home, place))',
    except: [],
  },
  {
    what: "a folder made of what a person calls something, which Windows may not have",
    pattern: /join\([^;]*, config\.name\)/,
    example: 'const folder = join(".gradus", "export", config.name);',
    except: [],
  },
];

const asksFirst: readonly string[] = ["scripts/setup/engine.mjs", "scripts/setup/sqlite.mjs"];
const filesIn = (rooms: readonly string[]): readonly string[] =>
  rooms.flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.m?ts$|\.mjs$/.test(name))
      .map((name) => join(room, name).replaceAll("\\", "/"))
      .filter((name) => !asksFirst.includes(name)),
  );
const shipped = filesIn(["server", "shared", "extension"]);

for (const { what, pattern, example, except, alsoIn = [] } of faults)
  test(`nowhere: ${what}`, () => {
    assert.match(example, pattern);
    const found = [...shipped, ...filesIn(alsoIn)].filter(
      (file) => !except.includes(file) && pattern.test(readFileSync(file, "utf8")),
    );
    assert.deepEqual(found, []);
    for (const file of except)
      assert.match(readFileSync(file, "utf8"), pattern, `${file} no longer needs to be excepted`);
  });
