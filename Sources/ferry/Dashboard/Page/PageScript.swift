/// What makes the page live. Without it everything is there, as it was when the page was loaded.
///
/// The server says that something has changed (`events`), the script loads the page anew and takes over what differs: rows by their `data-k`, so
/// that the reader's place, the focus and what is opened stay.
enum PageScript {
    static let text = """
        (()=>{'use strict';
        const live=document.getElementById('live'),form=document.getElementById('search'),box=document.getElementById('q');
        const walk=(a,b)=>{
        if(a.isEqualNode(b))return;
        const kids=[...b.children];
        if(a.nodeName===b.nodeName&&kids.length&&kids.every(k=>k.dataset.k)){
        for(const n of b.getAttributeNames())if(a.getAttribute(n)!==b.getAttribute(n))a.setAttribute(n,b.getAttribute(n));
        const known=new Map();
        for(const k of [...a.children]){if(known.has(k.dataset.k))k.remove();else known.set(k.dataset.k,k)}
        let at=a.firstElementChild;
        for(const kid of kids){
        const same=known.get(kid.dataset.k);
        if(!same){a.insertBefore(kid,at);continue}
        known.delete(kid.dataset.k);
        if(same===at)at=at.nextElementSibling;else a.insertBefore(same,at);
        walk(same,kid)}
        for(const k of known.values())k.remove();
        }else if(!a.contains(document.activeElement))a.replaceWith(b)};
        let busy=false,again=false;
        const load=async()=>{
        if(busy){again=true;return}
        busy=true;
        try{
        const answer=await fetch(location.pathname+location.search,{headers:{accept:'text/html'},cache:'no-store'});
        if(answer.status===401){location.reload();return}
        if(answer.ok){
        const page=new DOMParser().parseFromString(await answer.text(),'text/html').getElementById('live');
        if(page){
        for(const d of page.querySelectorAll('details[id]')){const o=document.getElementById(d.id);if(o&&o.open)d.open=true}
        walk(live,page)}}
        }catch{}
        busy=false;
        if(again){again=false;load()}};
        let source=null,timer=0;
        const stop=()=>{if(source)source.close();source=null;clearTimeout(timer)};
        const listen=()=>{
        stop();
        source=new EventSource('events'+location.search);
        source.addEventListener('changed',load);
        source.onerror=()=>{if(source&&source.readyState===2){stop();timer=setTimeout(()=>{load();listen()},15000)}}};
        document.addEventListener('visibilitychange',()=>{if(document.hidden)stop();else{load();listen()}});
        let wait=0;
        const search=()=>{
        history.replaceState(null,'',box.value?'?q='+encodeURIComponent(box.value):location.pathname);
        load();listen()};
        if(form&&box){
        form.addEventListener('submit',e=>{e.preventDefault();clearTimeout(wait);search()});
        box.addEventListener('input',()=>{clearTimeout(wait);wait=setTimeout(search,250)})}
        if(!document.hidden)listen()
        })();
        """
}
