/** What a person reads on each system: which command installs what, what sets the engine up, and where to train instead. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  bundleFix,
  elsewhere,
  engineCommand,
  installCommand,
  toGpu,
  type SystemHere,
} from "../../../shared/lib/systemWords.mjs";

const folder = mkdtempSync(join(tmpdir(), "gradus-words-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const system = (platform: NodeJS.Platform, programs: readonly string[], root = false): SystemHere => ({
  platform,
  root,
  has: (name) => programs.includes(name),
});
const buildTools =
  'winget install Microsoft.VisualStudio.2022.BuildTools --override "--passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"';
const sentence = "install Node 20.19 or newer from nodejs.org";

for (const [name, here, [node, python, compiler, browser]] of [
  [
    "Debian",
    system("linux", ["apt-get"]),
    [
      "sudo apt-get install -y nodejs npm",
      "sudo apt-get install -y python3-pip",
      "sudo apt-get install -y g++ make python3",
      "sudo apt-get install -y chromium",
    ],
  ],
  [
    "Ubuntu",
    system("linux", ["apt-get", "snap"]),
    ["sudo snap install node --classic", "sudo apt-get install -y python3-pip"],
  ],
  [
    "root of Fedora",
    system("linux", ["dnf"], true),
    ["dnf install -y nodejs npm", "dnf install -y python3-pip"],
  ],
  ["Arch", system("linux", ["pacman"]), ["sudo pacman -S --noconfirm nodejs npm"]],
  ["root of Alpine", system("linux", ["apk"], true), ["apk add nodejs npm", "apk add py3-pip"]],
  ["another Linux", system("linux", []), [sentence, "install Python with pip", "install a C++ compiler"]],
  [
    "a Mac",
    system("darwin", ["xcode-select"]),
    [sentence, "xcode-select --install", "xcode-select --install", "install Chromium or Chrome"],
  ],
  [
    "a Mac with Homebrew",
    system("darwin", ["xcode-select", "brew"]),
    ["brew install node", "xcode-select --install", "xcode-select --install", "brew install --cask chromium"],
  ],
  [
    "Windows",
    system("win32", ["winget"]),
    [
      "winget install OpenJS.NodeJS.LTS",
      "winget install Python.Python.3.12",
      buildTools,
      "winget install Google.Chrome",
    ],
  ],
  ["FreeBSD", system("freebsd", []), [sentence]],
] as const)
  test(`${name} is told a command that exists there, or a sentence`, () => {
    for (const [what, wanted] of [
      ["node", node],
      ["python", python],
      ["compiler", compiler],
      ["browser", browser],
    ] as const)
      if (wanted !== undefined) assert.equal(installCommand(what, here), wanted);
  });

test("where Node is too old, none is named that may have brought the old one", () => {
  const has = (...programs: string[]): string => installCommand("newerNode", system("linux", programs));
  assert.equal(has("apt-get"), sentence);
  assert.equal(has("apt-get", "snap"), "sudo snap install node --classic");
  assert.equal(has("pacman"), "sudo pacman -S --noconfirm nodejs npm");
  assert.equal(installCommand("newerNode", system("darwin", ["xcode-select"])), sentence);
});

test("the engine's command is npm's in a checkout, npx's where it came by that, ours in a package, and the editor's in what it installed", () => {
  const at = (name: string, file: string): string => {
    mkdirSync(join(folder, name, file, ".."), { recursive: true });
    writeFileSync(join(folder, name, file), "");
    return join(folder, name);
  };
  assert.equal(engineCommand(at("checkout", "server/cli.ts")), "npm run setup");
  assert.equal(engineCommand(at("package", "bin/gradus")), "gradus engine install");
  assert.match(engineCommand(at("gradus.gradus-0.1.0", "bin/gradus")), /^Gradus: Set Up Compute/);
  const npx = at("_npx", join("hash", "package.json"));
  writeFileSync(join(npx, "hash", "package.json"), JSON.stringify({ _npx: { packages: ["./gradus.tgz"] } }));
  const brought = join(npx, "hash", "node_modules", "gradus");
  assert.equal(engineCommand(brought), "npx ./gradus.tgz engine install", "no `gradus` is on the PATH there");
  assert.equal(engineCommand(), "gradus engine install");
  assert.equal(bundleFix(join(folder, "checkout")), "Build it: npm run build.");
  assert.equal(bundleFix(join(folder, "package")), "Install Gradus again.");
});

test("only Windows hears of WSL, also for a GPU", () => {
  for (const one of ["darwin-x64", "linux-x64-musl", "linux-ppc64", "darwin-arm64"]) {
    assert.match(elsewhere(one), /Remote-SSH.*dev container/);
    assert.doesNotMatch(elsewhere(one), /WSL/);
  }
  assert.match(elsewhere("win32-ia32"), /WSL.*Remote-SSH.*dev container/);
  assert.match(elsewhere("win32-arm64"), /WSL, which has the engine of Linux on ARM/);
  assert.match(toGpu("win32"), /Remote-SSH, in WSL or in a dev container\.$/);
  for (const platform of ["darwin", "linux"] as const)
    assert.match(toGpu(platform), /by Remote-SSH or in a dev container\.$/);
});

test("what fixes a failed set-up ends in the command that tries again, where the system has an engine", async () => {
  const { wholeFix } = (await import(pathToFileURL("scripts/setup/engine.mjs").href)) as {
    wholeFix(fix: string | undefined, system: string, command: string): string;
  };
  const command = "gradus engine install";
  assert.equal(wholeFix(undefined, "linux-x64", command), command);
  assert.equal(
    wholeFix("winget install Python.Python.3.12", "win32-x64", command),
    "winget install Python.Python.3.12, then gradus engine install",
  );
  assert.equal(
    wholeFix("check the network, then start again", "darwin-arm64", command),
    "check the network, then gradus engine install",
  );
  assert.equal(wholeFix(`remove it, then ${command}`, "linux-x64", command), `remove it, then ${command}`);
  for (const one of ["darwin-x64", "win32-arm64", "linux-x64-musl"])
    assert.equal(wholeFix(elsewhere(one), one, command), elsewhere(one), "no command that cannot help");
});
