// The inspector on a page of its own: the module is in the page, there is neither kernel nor network.
import type { ModuleView } from "../protocol.ts";
import { h } from "../view/dom.ts";
import { mount } from "../view/frame.ts";
import { SavedSource } from "../view/source.ts";
import style from "./standalone.css";

const data = document.getElementById("kernel-magics-view");
const view = JSON.parse(data?.textContent ?? "null") as ModuleView;
document.head.append(h("style", {}, style));
const main = h("main", {});
document.body.append(main);
mount(main, new SavedSource(view, "file"));
