#!/usr/bin/python3
"""Makes the files of this folder with the real LibreOffice, through its own API.

On Debian 12: apt-get install libreoffice-calc-nogui libreoffice-writer-nogui python3-uno
Then: ./make.py, from this folder. The files are committed; tests only read them.
"""

import os
import subprocess
import tempfile
import time

import uno
from com.sun.star.awt import Rectangle, Size
from com.sun.star.awt.FontSlant import ITALIC
from com.sun.star.awt.FontWeight import BOLD
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.style.ParagraphAdjust import BLOCK, CENTER, RIGHT
from com.sun.star.table import CellRangeAddress
from com.sun.star.table.CellHoriJustify import CENTER as CELL_CENTER
from com.sun.star.text.ControlCharacter import PARAGRAPH_BREAK
from com.sun.star.text.TextContentAnchorType import AS_CHARACTER

# Of both underlines and strikeouts.
SINGLE = 1
HERE = os.path.dirname(os.path.abspath(__file__))


def value(name, of):
    return PropertyValue(Name=name, Value=of)


def connected():
    profile = tempfile.mkdtemp()
    office = subprocess.Popen([
        "soffice", "--headless", "--norestore", f"-env:UserInstallation=file://{profile}",
        "--accept=pipe,name=agon;urp;",
    ])
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext(
        "com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(120):
        try:
            context = resolver.resolve("uno:pipe,name=agon;urp;StarOffice.ComponentContext")
            desktop = context.ServiceManager.createInstanceWithContext(
                "com.sun.star.frame.Desktop", context)
            return office, context, desktop
        except NoConnectException:
            time.sleep(0.5)
    raise SystemExit("LibreOffice did not start")


def store(document, name, filters):
    for ending, of in filters.items():
        document.storeToURL(f"file://{HERE}/{name}.{ending}", (value("FilterName", of),))


def spreadsheet(desktop):
    book = desktop.loadComponentFromURL("private:factory/scalc", "_blank", 0, (value("Hidden", True),))
    sheet = book.Sheets.getByIndex(0)
    sheet.Name = "Budget"
    book.Sheets.insertNewByName("Other", 1)
    rows = [("Item", "Cost", "Due"), ("Tea", 12.5, ""), ("Bread & butter", 3, ""), ("Milk", 1.25, "")]
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if isinstance(cell, str):
                sheet.getCellByPosition(x, y).String = cell
            else:
                sheet.getCellByPosition(x, y).Value = cell
    sheet.getCellByPosition(0, 4).String = "Total"
    sheet.getCellByPosition(1, 4).Formula = "=SUM(B2:B4)"
    sheet.getCellByPosition(2, 4).Formula = '=IF(B5>10;"much; or more";$Other.A1)'
    head = sheet.getCellRangeByName("A1:C1")
    head.CharWeight = BOLD
    head.CellBackColor = 0xFFFF00
    head.HoriJustify = CELL_CENTER
    cell = sheet.getCellRangeByName("A2")
    cell.CharPosture = ITALIC
    cell.CharUnderline = SINGLE
    cell.CharColor = 0xFF0000
    cell = sheet.getCellRangeByName("A3")
    cell.CharStrikeout = SINGLE
    cell.CharHeight = 14
    cell.CharFontName = "Liberation Serif"
    # A column that is painted as a whole: its cells don't say it themselves.
    sheet.Columns.getByIndex(4).CellBackColor = 0x00FF00
    # A word in a cell.
    cell = sheet.getCellRangeByName("A7")
    cell.String = "some bold"
    cursor = cell.createTextCursor()
    cursor.gotoEnd(False)
    cursor.goLeft(4, True)
    cursor.CharWeight = BOLD
    cell = sheet.getCellRangeByName("B7")
    cell.String = "two\nlines"
    sheet.getCellRangeByName("A8:B8").merge(True)
    sheet.getCellRangeByName("A8").String = "merged"
    sheet.getCellRangeByName("A9").Formula = "=1=1"
    percent = sheet.getCellRangeByName("B9")
    percent.Value = 0.125
    percent.NumberFormat = book.NumberFormats.queryKey("0.00%", uno.createUnoStruct("com.sun.star.lang.Locale"), False)
    sheet.Charts.addNewByName(
        "Costs", Rectangle(9000, 500, 8000, 6000),
        (CellRangeAddress(Sheet=0, StartColumn=0, StartRow=0, EndColumn=1, EndRow=3),), True, True)
    other = book.Sheets.getByName("Other")
    other.getCellRangeByName("A1").String = "little"
    store(book, "budget", {"ods": "calc8", "xlsx": "Calc MS Excel 2007 XML"})
    book.storeToURL(f"file://{HERE}/budget.csv", (
        value("FilterName", "Text - txt - csv (StarCalc)"), value("FilterOptions", "44,34,76,1")))
    book.close(True)


def picture(context):
    path = os.path.join(tempfile.mkdtemp(), "dot.png")
    with open(path, "wb") as file:
        file.write(bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
            "0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"))
    provider = context.ServiceManager.createInstanceWithContext(
        "com.sun.star.graphic.GraphicProvider", context)
    return provider.queryGraphic((value("URL", f"file://{path}"),))


def letter(context, desktop):
    document = desktop.loadComponentFromURL("private:factory/swriter", "_blank", 0, (value("Hidden", True),))
    text = document.Text
    cursor = text.createTextCursor()
    plain = {name: getattr(cursor, name) for name in (
        "CharWeight", "CharPosture", "CharUnderline", "CharStrikeout", "CharColor", "CharHeight",
        "CharFontName", "CharBackColor")}

    def write(words, **looks):
        for name, of in {**plain, **looks}.items():
            if getattr(cursor, name) != of:
                setattr(cursor, name, of)
        text.insertString(cursor, words, False)

    def paragraph(style="Standard", **looks):
        text.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        cursor.ParaStyleName = style
        cursor.setPropertyToDefault("ParaAdjust")
        cursor.NumberingStyleName = ""
        for name, of in looks.items():
            setattr(cursor, name, of)

    cursor.ParaStyleName = "Heading 1"
    text.insertString(cursor, "Notice", False)
    paragraph()
    write("This is ")
    write("urgent", CharWeight=BOLD)
    write(", and ")
    write("this", CharPosture=ITALIC, CharUnderline=SINGLE)
    write(" is  not.")
    paragraph()
    paragraph(ParaAdjust=CENTER)
    write("Centred ")
    write("red", CharColor=0xFF0000, CharHeight=20)
    write(" marked", CharBackColor=0xFFFF00)
    paragraph(ParaAdjust=RIGHT)
    write("Right", CharFontName="Liberation Sans")
    paragraph(ParaAdjust=BLOCK)
    write("Struck", CharStrikeout=SINGLE)
    paragraph(NumberingStyleName="List 1")
    write("first point")
    paragraph(NumberingStyleName="Numbering 123")
    write("first number")
    paragraph()
    write("A table:")
    table = document.createInstance("com.sun.star.text.TextTable")
    table.initialize(3, 2)
    paragraph()
    text.insertTextContent(cursor, table, False)
    for name, words in {"A1": "Name", "B1": "Age", "A2": "Ann", "B2": "41", "A3": "Bob"}.items():
        table.getCellByName(name).String = words
    head = table.getCellByName("A1").createTextCursor()
    head.gotoEnd(True)
    head.CharWeight = BOLD
    image = document.createInstance("com.sun.star.text.TextGraphicObject")
    image.Graphic = picture(context)
    image.AnchorType = AS_CHARACTER
    image.setSize(Size(500, 500))
    cursor.gotoEnd(False)
    text.insertTextContent(cursor, image, False)
    write("The end")
    store(document, "letter", {"odt": "writer8", "docx": "MS Word 2007 XML"})
    document.close(True)


office, context, desktop = connected()
try:
    spreadsheet(desktop)
    letter(context, desktop)
finally:
    try:
        desktop.terminate()
    except Exception:  # It goes away while it answers.
        pass
    office.wait()
