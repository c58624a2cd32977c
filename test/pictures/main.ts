/** Plays the scenes in a real workbench and takes their pictures: out/pictures/<theme>/<scene>.png. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand, startWorkbench, withoutWorkbench, type WorkbenchOptions } from "../support/workbench.ts";
import { Editor } from "./editor.ts";
import { decodePng, palettePng } from "./palettePng.ts";
import type { Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";
import { terminalFilm } from "./terminalFilm.ts";
import { workspaces, type WorkspaceName } from "./workspace.ts";

type Theme = NonNullable<WorkbenchOptions["theme"]>;
const themes: readonly Theme[] = ["dark", "light", "highContrast", "highContrastLight"];
const folder = "out/pictures";
const usual = { width: 1440, height: 900 };

/** Bytes of a picture that a page of the documentation loads. */
const mostBytes = 200_000;

async function document(editor: Editor, { file, area }: NonNullable<Scene["doc"]>): Promise<void> {
  const path = join("docs", "images", file);
  const made = await editor.page.screenshot({
    path,
    clip: await area(editor),
    animations: "disabled",
  });
  if (made.length > mostBytes) throw new Error(`${path} has ${made.length} bytes, ${mostBytes} at most`);
}

async function picture(theme: Theme, name: WorkspaceName, wanted: readonly Scene[]): Promise<number> {
  const { make, file } = workspaces[name];
  const runtime = mkdtempSync(join(tmpdir(), "gradus-p-"));
  const workbench = await startWorkbench({
    open: await make(join(folder, name === "project" ? "workspace" : name)),
    inPlace: true,
    theme,
    reducedMotion: true,
    settings: { "files.autoSave": "off" },
    extensionDevelopmentPath: process.cwd(),
    viewport: usual,
    // The daemon ends by itself once the window is gone.
    env: { XDG_RUNTIME_DIR: runtime, GRADUS_IDLE_MS: "1500" },
  });
  const editor = new Editor(workbench);
  let failed = 0;
  try {
    await editor.seen(workbench.page.getByRole("treeitem", { name: file }));
    await editor.open(file);
    await editor.seen(workbench.page.locator(".codelens-decoration a", { hasText: /Last run/ }));
    await editor.seen(workbench.page.getByText(/rollouts\sper\sstep/));
    for (const scene of wanted) {
      await editor.reset();
      await workbench.page.setViewportSize(scene.size ?? usual);
      const error = await scene.play(editor).then(
        () => undefined,
        (reason: unknown) => String(reason),
      );
      if (error !== undefined) failed += 1;
      console.log(`${theme} ${scene.name}${error === undefined ? "" : `: ${error}`}`);
      mkdirSync(join(folder, theme), { recursive: true });
      const shown = scene.part === "editor" ? workbench.page.locator(".part.editor") : workbench.page;
      const taken = await shown.screenshot({ animations: "disabled" });
      const kept = scene.size === undefined ? taken : palettePng(decodePng(taken));
      writeFileSync(join(folder, theme, `${scene.name}.png`), kept);
      if (error === undefined && words.includes("--media") && scene.size !== undefined)
        writeFileSync(join("media", "walkthrough", `${scene.name.replace(/^.*-/, "")}-${theme}.png`), kept);
      if (forDocs && scene.doc !== undefined && error === undefined) await document(editor, scene.doc);
    }
    await editor.reset();
    await runCommand(workbench.page, "Gradus: Stop Daemon");
  } catch (error) {
    await workbench.page.screenshot({ path: join(folder, "failed.png") });
    throw error;
  } finally {
    await workbench.stop();
    rmSync(runtime, { recursive: true, force: true });
  }
  return failed;
}

const words = process.argv.slice(2);
/** Makes the pictures of the documentation again, which are dark. */
const forDocs = words.includes("--docs");
const named = words
  .find((word) => word.startsWith("--themes="))
  ?.slice("--themes=".length)
  .split(",");
const asked = words.filter((word) => !word.startsWith("--"));
const wanted = scenes
  .filter(({ doc }) => !forDocs || doc !== undefined)
  .filter(({ name }) => asked.length === 0 || asked.some((word) => name.includes(word)));
const reason = withoutWorkbench();
if (reason !== false) console.error(reason);
if (reason !== false || (wanted.length === 0 && !forDocs)) process.exit(1);
let failed = 0;
if (forDocs && (asked.length === 0 || asked.includes("flat"))) {
  const bytes = await terminalFilm(join("docs", "images", "flat.png"));
  if (bytes > mostBytes) throw new Error(`docs/images/flat.png has ${bytes} bytes, ${mostBytes} at most`);
  console.log(`docs/images/flat.png: ${bytes} bytes`);
}
for (const theme of themes.filter((one) =>
  forDocs ? one === "dark" : named === undefined || named.includes(one),
))
  for (const name of Object.keys(workspaces) as WorkspaceName[]) {
    const own = wanted.filter(({ workspace = "project" }) => workspace === name);
    if (own.length > 0) failed += await picture(theme, name, own);
  }
process.exit(failed === 0 ? 0 : 1);
