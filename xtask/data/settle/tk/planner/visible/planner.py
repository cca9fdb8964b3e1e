"""A small planner: most of the widgets that Tk programs are made of, in one window."""
import tkinter as tk
from tkinter import filedialog, messagebox, ttk

root = tk.Tk()
root.title("Planner")
root.geometry("760x520+240+120")

bar = tk.Menu(root)
for title, entries in {
    "File": ["New", "Open...", "Save as...", "Quit"],
    "Edit": ["Undo", "Redo", "Cut", "Copy", "Paste"],
    "View": ["Day", "Week", "Month"],
    "Help": ["About"],
}.items():
    menu = tk.Menu(bar, tearoff=False)
    for entry in entries:
        menu.add_command(label=entry, command=lambda entry=entry: chosen(entry))
    bar.add_cascade(label=title, menu=menu, underline=0)
root.config(menu=bar)

status = tk.StringVar(value="Ready")


def chosen(entry):
    status.set(f"Chosen: {entry}")
    if entry == "About":
        messagebox.showinfo("About", "A planner for a week.")
    elif entry == "Open...":
        filedialog.askopenfilename()
    elif entry == "Save as...":
        filedialog.asksaveasfilename()
    elif entry == "New":
        text.delete("1.0", "end")
    elif entry == "Undo":
        text.event_generate("<<Undo>>")


tools = tk.Frame(root, relief="raised", bd=1)
tools.pack(fill="x")
for entry in ["New", "Undo", "About"]:
    tk.Button(tools, text=entry, command=lambda entry=entry: chosen(entry)).pack(side="left", padx=2, pady=2)

tabs = ttk.Notebook(root)
tabs.pack(fill="both", expand=True)
tk.Label(root, textvariable=status, anchor="w", relief="sunken", bd=1).pack(fill="x")

form = tk.Frame(tabs)
tabs.add(form, text="Entry")
tk.Label(form, text="Title").place(x=20, y=20)
title = tk.Entry(form, width=30)
title.place(x=120, y=20)
tk.Label(form, text="Day").place(x=20, y=60)
day = ttk.Combobox(form, values=["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"], width=20)
day.place(x=120, y=60)
tk.Label(form, text="Hours").place(x=20, y=100)
tk.Spinbox(form, from_=1, to=12, width=6).place(x=120, y=100)
tk.Checkbutton(form, text="Important", command=lambda: status.set("Importance changed")).place(x=20, y=140)
tk.Checkbutton(form, text="Every week").place(x=140, y=140)
kind = tk.StringVar(value="work")
for at, name in enumerate(["work", "home", "sport"]):
    tk.Radiobutton(form, text=name, value=name, variable=kind).place(x=20 + 90 * at, y=180)
tk.Scale(form, orient="horizontal", length=300, label="Effort").place(x=20, y=220)
progress = ttk.Progressbar(form, length=300)
progress.place(x=20, y=310)


def advance(steps=20):
    progress["value"] += 2
    if steps > 1:
        root.after(20, advance, steps - 1)


tk.Button(form, text="Add", command=lambda: (days.insert("end", f"{title.get()} {day.get()}"), status.set("Added"))).place(x=20, y=350)
tk.Button(form, text="Work", command=advance).place(x=90, y=350)
days = tk.Listbox(form, width=30, height=16)
days.place(x=420, y=20)
for number in range(1, 41):
    days.insert("end", f"Appointment {number}")
days.bind("<<ListboxSelect>>", lambda event: status.set(f"Line {days.curselection()}"))

note = tk.Frame(tabs)
tabs.add(note, text="Note")
text = tk.Text(note, undo=True)
scroll = tk.Scrollbar(note, command=text.yview)
text.config(yscrollcommand=scroll.set)
scroll.pack(side="right", fill="y")
text.pack(fill="both", expand=True)
context = tk.Menu(text, tearoff=False)
for entry in ["Cut", "Copy", "Paste"]:
    context.add_command(label=entry)
text.bind("<Button-3>", lambda event: context.tk_popup(event.x_root, event.y_root))

tree = ttk.Treeview(tabs, columns=["size"])
tabs.add(tree, text="Tree")
tree.heading("#0", text="Name")
tree.heading("size", text="Size")
for group in range(1, 6):
    item = tree.insert("", "end", text=f"Group {group}")
    for number in range(1, 8):
        tree.insert(item, "end", text=f"Part {group}.{number}", values=[number * 10])

title.focus()
root.mainloop()
