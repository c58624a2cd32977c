/** A workbench on a project of its own, under development, and everything of it removed afterwards. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorkbench, type Workbench } from "./workbench.ts";

export interface ProjectWindow {
  readonly workbench: Workbench;
  /** The folder that is open. */
  readonly project: string;
  end(): Promise<void>;
}

/** @param fill writes the project; `beside`: a folder next to it that goes with it */
export async function projectWindow(
  fill: (project: string, beside: string) => Promise<void> | void,
): Promise<ProjectWindow> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gradus-w-")));
  const runtime = mkdtempSync(join(tmpdir(), "gradus-s-"));
  const project = join(base, "project");
  const remove = (): void => {
    for (const folder of [base, runtime])
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    mkdirSync(project);
    await fill(project, base);
    const workbench = await startWorkbench({
      open: project,
      inPlace: true,
      extensionDevelopmentPath: process.cwd(),
      viewport: { width: 1440, height: 900 },
      // The daemon ends by itself once the window is gone and the run has ended.
      env: { XDG_RUNTIME_DIR: runtime, GRADUS_IDLE_MS: "1500" },
    });
    const end = (): Promise<void> => workbench.stop().finally(remove);
    return { workbench, project, end };
  } catch (error) {
    remove();
    throw error;
  }
}
