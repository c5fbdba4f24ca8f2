// Puts the page together: the data, one time for all of it, and the sections of each recording.

const report = JSON.parse(document.getElementById('data').textContent);
const time = makeTime(Math.max(...report.recordings.map((r) => r.duration)));
const look = makeLook(time.redraw);
const help = makeHelp();
const main = document.getElementById('report');

const top = document.querySelector('.live') ?? main;
top.before(makeBar(time, report.recordings, look, help));
if (report.difference) main.before(makeDifference(report.difference));
main.classList.toggle('two', report.recordings.length > 1);
report.recordings.forEach((r, number) => {
  const place = document.getElementById(`recording-${number}`);
  const sections = [
    makeFindings(r, number, time), makeTimeline(r, number, time), makePlots(r, number, time), makeCameras(r, number, time),
    makeTracks(r, number, time), makeClouds(r, number, time), makeFrames(r, number), makeTypes(r, number),
    makeLines(r.losses, number, 'losses', 'Losses', 'by its reader and its recorder'),
    makeLines(r.left_out, number, 'leftout', 'Left out', 'of this report'),
  ].filter(Boolean);
  fillHead(r, place.querySelector('.head'), sections);
  place.append(el('div.sections', {}, sections));
});
makeKeys(time, report.recordings, look, help);
document.documentElement.dataset.ready = 'true'; // tests wait for it
