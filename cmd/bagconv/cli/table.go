package cli

import (
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

// table writes rows in columns, and after each what is not aligned.
func table(rows [][]string, last []string) []string {
	align(rows)
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "  ") + "  " + last[i]
	}
	return lines
}

// align pads the cells of each column to one width: the first column on its
// right, the others on their left.
func align(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for col := range rows[0] {
		width := columnWidth(rows, col)
		for _, r := range rows {
			pad := strings.Repeat(" ", width-phrase.Columns(r[col]))
			if col == 0 {
				r[col] += pad
			} else {
				r[col] = pad + r[col]
			}
		}
	}
}

func columnWidth(rows [][]string, col int) (width int) {
	for _, r := range rows {
		width = max(width, phrase.Columns(r[col]))
	}
	return width
}

// leastShare is the least room that the first column and the first word of what is not aligned have each in one line.
const leastShare = 16

// fitted is table in at most width columns; 0: any number. The first column, and the first word of what is not aligned,
// are shortened, and the other words go on below it. If that is not enough, a row takes several lines.
func fitted(rows [][]string, last []string, width int) []string {
	if len(rows) == 0 || width == 0 {
		return table(rows, last)
	}
	name, rest, room := columnWidth(rows, 0), 0, width-2
	heads, tails := make([]string, len(last)), make([]string, len(last))
	for i, s := range last {
		heads[i], tails[i], _ = strings.Cut(s, " ")
		rest = max(rest, phrase.Columns(heads[i]))
	}
	for col := range rows[0][1:] {
		room -= 2 + columnWidth(rows, col+1)
	}
	if room < 2*leastShare && room < name+rest {
		return stacked(rows, last, width)
	}
	if name+rest > room {
		name = min(name, max(room/2, room-rest))
		rows, heads = shortNames(rows, name), phrase.Shorten(heads, room-name)
	}
	for i, tail := range tails {
		if tail != "" {
			heads[i] += " " + tail
		}
	}
	var lines []string
	for _, line := range table(rows, heads) {
		lines = append(lines, strings.Split(phrase.Fold(line, width-room+name+2, width), "\n")...)
	}
	return lines
}

// stacked writes the first column and what is not aligned, and below them the other columns.
func stacked(rows [][]string, last []string, width int) (lines []string) {
	rows = shortNames(rows, width)
	numbers := make([][]string, len(rows))
	for i, r := range rows {
		numbers[i] = append([]string{""}, r[1:]...)
	}
	align(numbers)
	for i, r := range rows {
		for _, line := range []string{r[0] + "  " + last[i], strings.Join(numbers[i], "  ")} {
			lines = append(lines, strings.Split(phrase.Fold(line, 4, width), "\n")...)
		}
	}
	return lines
}

// shortNames shortens the first column.
func shortNames(rows [][]string, room int) [][]string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[0]
	}
	for i, name := range phrase.Shorten(names, room) {
		rows[i][0] = name
	}
	return rows
}

// columns returns how wide the terminal is that gets the output; 0: a pipe or a file gets it.
func (e *env) columns() int {
	switch {
	case !e.OutTerminal:
		return 0
	case e.OutColumns <= 0:
		return 80
	}
	return e.OutColumns
}

// keyed returns a key and its value, broken between words if the line is too wide for the terminal. A value with a
// word that has no room beside the key stands below it.
func (e *env) keyed(key, value string, indent int) string {
	line := phrase.Pad(key, indent) + value
	width := e.columns()
	if width == 0 || phrase.Columns(line) <= width {
		return line + "\n"
	}
	longest := 0
	for _, word := range strings.Fields(value) {
		longest = max(longest, phrase.Columns(word))
	}
	if longest > width-indent {
		return strings.TrimRight(key, " ") + "\n  " + phrase.WrapAt(value, 2, width) + "\n"
	}
	return phrase.Pad(key, indent) + phrase.WrapAt(value, indent, width) + "\n"
}
