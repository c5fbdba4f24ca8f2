// Package page writes a report as one HTML file that needs nothing else: scripts, styles, pictures and data are in it.
//
//	page.go    Write: the file, with a policy that allows no network and no other script
//	page.html  the frame of the file, and what is seen without JavaScript
//	style.css  the light and the dark look, print, narrow windows
//	base.js    elements, numbers and times as text; lists that grow
//	time.js    the one time of the page: the bar, the keys
//	look.js    light and dark; sharp canvases
//	main.js    puts the page together of head.js, timeline.js, plots.js, cameras.js, track.js, cloud.js and lists.js
//	uplot.js   uPlot 1.6.32, as published, with uplot.css; its licence is uplot.LICENSE, and is in each page
//
// The data is JSON in an element that no browser runs. All texts of a recording reach the page as text nodes and
// attributes, so that markup in names is text. Write refuses a report that JSON cannot hold: numbers outside of
// report.Numbers that are NaN or infinite. It may be called concurrently.
package page
