/** One scene, one picture: what a person does until a feature is on the page. */
import type { WorkspaceName } from "./workspace.ts";
import type { Locator } from "playwright-core";
import type { Editor } from "./editor.ts";

/** In CSS pixels. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
export interface Scene {
  readonly name: string;
  /** Of the window, where a picture is not as large as the others: it is kept with few colours then. */
  readonly size?: { readonly width: number; readonly height: number };
  /** What of the window is shown; otherwise all of it. */
  readonly part?: "editor" | "window";
  /** What is opened; `project` where it is not said. */
  readonly workspace?: WorkspaceName;
  /** A picture of the documentation, in docs/images: its name, and the part of the window that it is of. */
  readonly doc?: {
    readonly file: string;
    readonly area: (editor: Editor) => Promise<Area>;
  };
  play(editor: Editor): Promise<void>;
}

/** Where something is in the window. */
export async function boxOf(locator: Locator): Promise<Area> {
  const box = await locator.first().boundingBox();
  if (box === null) throw new Error("what the picture is of cannot be seen");
  return box;
}
